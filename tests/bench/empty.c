/* The cheapest C program: what starting a process costs here. */
int main(void)
{
    return 0;
}
