// A preloaded library with nothing in it: the bench row `shim` is measured against it.

extern int bench_empty;
int bench_empty;
