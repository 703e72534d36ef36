# Draws metric_ecn_marked_frames.svg from metric_ecn_marked_frames.csv; run it by: gnuplot metric_ecn_marked_frames.gp
# Written by weft 0.1.0+1e08462.
set terminal svg noenhanced size 900,560 font 'sans,14' background 'white'
set output 'metric_ecn_marked_frames.svg'
set datafile separator comma
set datafile columnheaders
set datafile missing NaN
set grid
set key outside right top
set linetype 1 linecolor rgb '#0072b2' linewidth 1.5
set linetype 2 linecolor rgb '#d55e00' linewidth 1.5
set linetype 3 linecolor rgb '#009e73' linewidth 1.5
set linetype 4 linecolor rgb '#cc79a7' linewidth 1.5
set linetype 5 linecolor rgb '#56b4e9' linewidth 1.5
set linetype 6 linecolor rgb '#8b6508' linewidth 1.5
set linetype 7 linecolor rgb '#000000' linewidth 1.5
set linetype 8 linecolor rgb '#e69f00' linewidth 1.5
set title 'frames marked in all queues: mean and its 95% confidence interval'
set xlabel 'switches.*.queue.3.kmin'
set ylabel 'ecn_marked_frames'
set yrange [0:*]
set xtics rotate by -30
set offsets graph 0.04, graph 0.04, 0, 0
array G[1]
G[1] = 'all runs'
plot for [i=1:1] 'metric_ecn_marked_frames.csv' using (column("x")):(column("curve") == i ? column("mean") / 1 : NaN):(column("ci95_low") / 1):(column("ci95_high") / 1):xticlabels(7) with yerrorlines pointtype 7 pointsize 0.4 title G[i]
