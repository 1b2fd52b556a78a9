# Run in every build, so that the commit is the one that is built: cmake -D SOURCE=... -D TEMPLATE=... -D OUTPUT=...
# and what the template takes. The header is rewritten only where it changes.
execute_process(COMMAND git describe --always --dirty --exclude=* WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE TESSERA_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
