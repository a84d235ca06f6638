package main

import (
	"context"
	"database/sql"
	"fmt"

	"causeway/adapters/postgres"
	"causeway/migrations"
)

// migrate upgrades a database to this version's schema.
func migrate(ctx context.Context, databaseURL string) (result migrations.Result, err error) {
	err = asOwner(databaseURL, func(db *sql.DB) error {
		result, err = migrations.Apply(ctx, db)
		return err
	})
	return result, err
}

// migrationPlan returns what migrate would apply.
func migrationPlan(ctx context.Context, databaseURL string) (pending []migrations.Pending, err error) {
	err = asOwner(databaseURL, func(db *sql.DB) error {
		pending, err = migrations.Plan(ctx, db)
		return err
	})
	return pending, err
}

// asOwner opens a database as its owner, and calls do.
func asOwner(databaseURL string, do func(*sql.DB) error) error {
	if databaseURL == "" {
		return errNoDatabaseURL
	}
	db, err := postgres.OpenOwner(databaseURL)
	if err != nil {
		return fmt.Errorf("--database-url (DATABASE_URL) is invalid: %w", err)
	}
	defer db.Close()
	return do(db)
}
