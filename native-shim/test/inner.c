int inner(void);

int inner(void) { return 1; }
