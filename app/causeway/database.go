package main

import (
	"context"
	"os"

	"github.com/sirupsen/logrus"

	"causeway/adapters/pgembed"
	"causeway/adapters/postgres"
	"causeway/migrations"
)

// open returns the URL of the database of a command other than the server: the configured
// one, the one of a server that runs on the data folder, or that of the folder's private
// Postgres, which open then starts. The caller calls the returned function when done.
func (f databaseFlags) open(ctx context.Context, log logrus.FieldLogger) (string, func() error, error) {
	release := func() error { return nil }
	if f.DatabaseURL != "" {
		return f.DatabaseURL, release, nil
	}
	if running, ok := pgembed.RunningURL(f.Data); ok {
		return running, release, nil
	}
	if _, err := os.Stat(f.Data); err != nil {
		return "", nil, noDatabaseError(f.Data)
	}
	server, err := pgembed.Start(ctx, pgembed.Options{Dir: f.Data, Log: log})
	if err != nil {
		return "", nil, err
	}
	if err := migrate(ctx, server.URL()); err != nil {
		_ = server.Stop(context.WithoutCancel(ctx))
		return "", nil, err
	}
	return server.URL(), func() error { return server.Stop(context.WithoutCancel(ctx)) }, nil
}

// openMigrated connects to a database, and returns an error if its schema is not the one of
// this program.
func openMigrated(ctx context.Context, options postgres.Options) (*postgres.DB, error) {
	db, err := postgres.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	if err := migrations.Check(ctx, db.SQL()); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}
