// Package postgres stores everything in PostgreSQL: it implements the unit of work and its
// repositories.
//
// It decides nothing. At its boundary, a violation of a named constraint becomes the fault
// of that constraint; other database errors are returned as they are. Statements that run
// for every payment are prepared and take batches as arrays; the others are built with bun.
package postgres
