// Package backups restores backups of a Postgres server beside it: base backups as pg_basebackup writes them, and those of
// pgBackRest. The restored server is private to the process, archives nothing, connects to no other server, and is removed.
//
// Backups and archives are only read.
package backups
