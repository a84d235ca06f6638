package main

import (
	"context"
	"os"

	"github.com/sirupsen/logrus"

	"causeway/adapters/pgembed"
)

// open finds the database of a command that is not the server: the one named, the
// one of a server that runs on the data folder, or that folder's own, started for
// as long as the command takes. The function gives it back.
func (w databaseFlags) open(ctx context.Context, log logrus.FieldLogger) (string, func() error, error) {
	keep := func() error { return nil }
	if w.DatabaseURL != "" {
		return w.DatabaseURL, keep, nil
	}
	if running, ok := pgembed.RunningURL(w.Data); ok {
		return running, keep, nil
	}
	if _, err := os.Stat(w.Data); err != nil {
		return "", nil, noDatabaseError(w.Data)
	}
	server, err := pgembed.Start(ctx, pgembed.Options{Dir: w.Data, Log: log})
	if err != nil {
		return "", nil, err
	}
	if err := migrate(ctx, server.URL()); err != nil {
		_ = server.Stop(context.WithoutCancel(ctx))
		return "", nil, err
	}
	return server.URL(), func() error { return server.Stop(context.WithoutCancel(ctx)) }, nil
}
