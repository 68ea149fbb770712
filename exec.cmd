@rem Stands in for the `exec` of a POSIX shell on Windows, so that the scripts of package.json are the same there.
@%*
