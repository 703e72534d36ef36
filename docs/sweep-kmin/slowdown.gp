# Draws slowdown.svg from slowdown.csv; run it by: gnuplot slowdown.gp
# Written by weft 0.1.0+1e08462.
set terminal svg noenhanced size 900,560 font 'sans,14' background 'white'
set output 'slowdown.svg'
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
set title 'Slowdown by size: median, 5% to 95% of flows'
set xlabel 'flow size (the curves stand a little apart)'
set ylabel 'completion time / ideal time of the path'
set logscale x
set logscale y
set format x '%.0s%cB'
array G[5]
G[1] = 'kmin=10kB'
G[2] = 'kmin=50kB'
G[3] = 'kmin=100kB'
G[4] = 'kmin=200kB'
G[5] = 'kmin=400kB'
plot for [i=1:5] 'slowdown.csv' using (column("size_bytes") * (1 + 0.04 * (i - 3))):(column("curve") == i ? column("p50") / 1 : NaN):(column("p5") / 1):(column("p95") / 1) with yerrorlines pointtype 7 pointsize 0.4 title G[i]
