/* The smallest C program: measures the cost of starting a process. */
int main(void)
{
    return 0;
}
