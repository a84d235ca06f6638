// Package postgres stores everything in PostgreSQL: it implements the unit of work and its
// repositories.
//
// It decides nothing. At its boundary, a violation of a named constraint becomes the fault of that constraint; other
// database errors are returned as they are.
//
// Each table is one list of columns with the fields of the domain that hold them (schema.New); a new column is one line in it.
// What is selected, inserted, updated and scanned comes from the list (rows.go), and values of the domain are arguments as
// they are (schema/codecs.go). bun composes the statements of lists, whose conditions vary (lists.go). All others are SQL text,
// which is prepared; writes take batches as arrays. pgx runs all of them: reads as reads.go says, those of a unit of work on
// its connection, where writes wait for the next read or the commit and go in one batch (unit.go).
package postgres
