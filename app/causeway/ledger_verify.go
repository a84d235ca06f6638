package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"causeway/adapters/checkpoints"
	"causeway/adapters/postgres"
	"causeway/app/audit"
)

type ledgerVerifyCommand struct {
	databaseFlags
	Checkpoints []string `name:"heads" aliases:"head" sep:"none" help:"Heads that were kept outside of the database: a folder, a file, or an http or https address. May be given several times." placeholder:"WHERE"`
	Key         []string `sep:"none" help:"The key that heads must be signed with, as GET /ledger/log/keys shows it. Without it, the stored keys are believed. May be given several times, for keys that were replaced." placeholder:"KEY"`
	Export      string   `help:"Verify this export of a log, without any database. Needs --heads." type:"existingfile" placeholder:"FILE"`
}

func (l ledgerVerifyCommand) Run(ctx context.Context, out io.Writer) error {
	against, err := l.parseVerification(ctx)
	if err != nil {
		return err
	}
	if l.Export != "" {
		return l.verifyExport(ctx, out, against)
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		report, err := newAudit(db).Verify(ctx, against)
		if err != nil {
			return err
		}
		if err := checkUnposted(ctx, db, &report); err != nil {
			return err
		}
		return writeReport(out, report)
	})
}

func (l ledgerVerifyCommand) parseVerification(ctx context.Context) (v audit.VerifyOptions, err error) {
	for _, text := range l.Key {
		key, err := audit.ParseLogKey(text)
		if err != nil {
			return v, fmt.Errorf("--key: %w", err)
		}
		v.Keys = append(v.Keys, key)
	}
	for _, where := range l.Checkpoints {
		found, err := readCheckpoints(ctx, where)
		if err != nil {
			return v, fmt.Errorf("--heads: %w", err)
		}
		v.Published = append(v.Published, found...)
	}
	return v, nil
}

func readCheckpoints(ctx context.Context, where string) (found []audit.PublishedCheckpoint, err error) {
	sources, err := checkpoints.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		some, wrong := audit.ReadCheckpoints(source.Name, source.Text)
		err = errors.Join(err, wrong, source.Text.Close())
		found = append(found, some...)
	}
	return found, err
}

// verifyExport verifies a file.
func (l ledgerVerifyCommand) verifyExport(ctx context.Context, out io.Writer, against audit.VerifyOptions) error {
	if len(against.Published) == 0 {
		return errors.New("--export needs --heads: an export is proved by a head that was kept apart from it")
	}
	file, err := os.Open(l.Export)
	if err != nil {
		return err
	}
	defer file.Close()
	report, err := audit.VerifyExport(ctx, file, against)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Export, err)
	}
	if len(against.Keys) == 0 {
		if _, err := fmt.Fprint(out, "The signatures of the heads were not verified: that needs --key.\n\n"); err != nil {
			return err
		}
	}
	return writeReport(out, report)
}
