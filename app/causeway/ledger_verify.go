package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"causeway/adapters/checkpoints"
	"causeway/adapters/postgres"
	"causeway/app/audit"
	"causeway/core/ident"
)

type ledgerVerifyCommand struct {
	databaseFlags
	Checkpoints []string      `aliases:"checkpoint" sep:"none" help:"Folder, file, or http or https URL of checkpoints published outside the database. Repeatable." placeholder:"WHERE"`
	Key         []string      `sep:"none" help:"Public key that signed the checkpoints, as listed by GET /ledger/log/keys. Default: the keys stored in the database. Repeatable, for keys that were replaced or of several platforms." placeholder:"KEY"`
	MaxUnsealed time.Duration `default:"1h" help:"Maximum age of a posting that is not sealed yet. Must be above CAUSEWAY_SEAL_EVERY of the service." placeholder:"DURATION"`
	Export      string        `help:"Verify this exported log, without a database. Requires --checkpoints." type:"existingfile" placeholder:"FILE"`
}

func (l ledgerVerifyCommand) Run(ctx context.Context, out io.Writer) error {
	options, err := l.parseVerification(ctx)
	if err != nil {
		return err
	}
	if l.Export != "" {
		return l.verifyExport(ctx, out, options)
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		report, err := newAudit(db).Verify(ctx, options)
		if err != nil {
			return err
		}
		if err := checkUnposted(ctx, db, ident.Platform{}, &report); err != nil {
			return err
		}
		return writeReport(out, report)
	})
}

func (l ledgerVerifyCommand) parseVerification(ctx context.Context) (options audit.VerifyOptions, err error) {
	if l.MaxUnsealed <= 0 {
		return options, fmt.Errorf("--max-unsealed must be above zero, not %s", l.MaxUnsealed)
	}
	options.SealedBefore = systemClock{}.Now().Add(-l.MaxUnsealed)
	for _, text := range l.Key {
		key, err := audit.ParseLogKey(text)
		if err != nil {
			return options, fmt.Errorf("--key: %w", err)
		}
		options.Keys = append(options.Keys, key)
	}
	for _, where := range l.Checkpoints {
		found, err := readCheckpoints(ctx, where)
		if err != nil {
			return options, fmt.Errorf("--checkpoints: %w", err)
		}
		options.Published = append(options.Published, found...)
	}
	return options, nil
}

func readCheckpoints(ctx context.Context, where string) (found []audit.PublishedCheckpoint, err error) {
	sources, err := checkpoints.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		checkpoints, readErr := audit.ReadCheckpoints(source.Name, source.Text)
		err = errors.Join(err, readErr, source.Text.Close())
		found = append(found, checkpoints...)
	}
	return found, err
}

// verifyExport verifies an exported log file.
func (l ledgerVerifyCommand) verifyExport(ctx context.Context, out io.Writer, options audit.VerifyOptions) error {
	if len(options.Published) == 0 {
		return errors.New("--export requires --checkpoints: an export is verified against a checkpoint that was stored elsewhere")
	}
	file, err := os.Open(l.Export)
	if err != nil {
		return err
	}
	defer file.Close()
	report, err := audit.VerifyExport(ctx, file, options)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Export, err)
	}
	if len(options.Keys) == 0 {
		if _, err := fmt.Fprint(out, "The signatures of the checkpoints were not verified; set --key to verify them.\n\n"); err != nil {
			return err
		}
	}
	return writeReport(out, report)
}
