# Runs `peruse` for a partition and writes down its process. Exit code 3 says that some rows have an error, which their results report.
sh -c 'echo $$ >> "$STARTED"; exec "$@"' sh "$@" || [ $? = 3 ]
