package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/sirupsen/logrus"

	"causeway/adapters/cli"
	"causeway/adapters/pgembed"
	"causeway/adapters/postgres"
	"causeway/migrations"
)

// openDatabase returns the URL of the database of a command other than the server: the configured
// one, the one of a server that runs on the data folder, or that of the folder's private
// Postgres, which it then starts. The caller calls the returned function when done.
func openDatabase(ctx context.Context, f cli.DatabaseFlags, log logrus.FieldLogger) (string, func() error, error) {
	release := func() error { return nil }
	if f.DatabaseURL != "" {
		return f.DatabaseURL, release, nil
	}
	if running, ok := pgembed.RunningURL(f.Data); ok {
		return running, release, nil
	}
	if _, err := os.Stat(f.Data); err != nil {
		return "", nil, fmt.Errorf("no database: %s does not exist and DATABASE_URL is not set; run causeway dev, or set --data", f.Data)
	}
	server, err := pgembed.Start(ctx, pgembed.Options{Dir: f.Data, Log: log})
	if err != nil {
		return "", nil, err
	}
	if _, err := migrate(ctx, server.URL()); err != nil {
		_ = server.Stop(context.WithoutCancel(ctx))
		return "", nil, err
	}
	return server.URL(), func() error { return server.Stop(context.WithoutCancel(ctx)) }, nil
}

// errNoDatabaseURL is returned because the driver would use its own defaults.
var errNoDatabaseURL = errors.New("--database-url (DATABASE_URL) must not be empty")

// openMigrated connects to a database, and returns an error if its schema is not the one of
// this program.
func openMigrated(ctx context.Context, options postgres.Options) (*postgres.DB, error) {
	if options.URL == "" {
		return nil, errNoDatabaseURL
	}
	db, err := postgres.Open(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("%w; check --database-url (DATABASE_URL)", err)
	}
	if err := migrations.Check(ctx, db.SQL()); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// allowOwnerSetting names the setting that lets serve run with any login.
const allowOwnerSetting = "--allow-owner-login (CAUSEWAY_ALLOW_OWNER_LOGIN)"

// checkLogin returns an error if the login of the service may do more than the role
// causeway_service, which can neither change postings nor read the rows of another platform.
func checkLogin(ctx context.Context, db *postgres.DB) error {
	login, err := db.Login(ctx)
	if err != nil || login.Excess == "" {
		return err
	}
	return fmt.Errorf("--database-url (DATABASE_URL): the login %s %s, so the service could change the ledger. "+
		"Create a login for the service, as the owner of the database:\n"+
		"  CREATE ROLE causeway_web LOGIN PASSWORD '...';\n"+
		"  GRANT causeway_service TO causeway_web;\n"+
		"and name it in the URL. To start with this login all the same, set %s", login.Name, login.Excess, allowOwnerSetting)
}

// devLogin is the login of the service in the private Postgres.
const devLogin = "causeway_web"

// createDevLogin creates the login of the service in the private Postgres, if it does not exist,
// and returns the URL of the database with it. The login keeps statement errors out of the
// server's log, where they would show customers' data.
func createDevLogin(ctx context.Context, server *pgembed.Server) (string, error) {
	conn, err := pgx.Connect(ctx, server.SuperuserURL())
	if err == nil {
		defer func() { _ = conn.Close(ctx) }()
		_, err = conn.Exec(ctx, `
			DO $$ BEGIN CREATE ROLE `+devLogin+` LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
			ALTER ROLE `+devLogin+` SET log_min_messages = log;
			GRANT causeway_service TO `+devLogin)
	}
	if err != nil {
		return "", fmt.Errorf("create the login of the service in the private Postgres: %w", err)
	}
	return server.RoleURL(devLogin), nil
}
