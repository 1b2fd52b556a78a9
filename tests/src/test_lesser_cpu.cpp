// The check in src/machine/cpu_check.cpp stops the program before it gets here.
int main() { return 0; }
