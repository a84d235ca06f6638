// Package postgres keeps everything in PostgreSQL: the unit of work, and the
// repositories in it.
//
// It decides nothing. What is lost at its boundary: a broken constraint becomes
// the fault its name stands for; every other database error is passed on as an
// error of our own. Statements that run for every payment are prepared and take
// whole groups as arrays; the rest is written with bun.
package postgres
