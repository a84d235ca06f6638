package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"causeway/app/audit"
)

type ledgerVerifyCommand struct {
	DatabaseFlags
	outputFlag
	checkpointFlags
	MaxUnsealed time.Duration `default:"1h" help:"Maximum age of a posting that is not sealed yet. Must be above CAUSEWAY_SEAL_EVERY of the service." placeholder:"DURATION"`
	Export      string        `help:"Verify this exported log, without a database. Requires --checkpoints." type:"existingfile" placeholder:"FILE"`
}

// checkpointFlags name checkpoints that were kept outside of the database, and the keys that signed them.
type checkpointFlags struct {
	Checkpoints []string `aliases:"checkpoint" sep:"none" help:"Folder, file, or http or https URL of checkpoints published outside the database. Repeatable." placeholder:"WHERE"`
	Key         []string `sep:"none" help:"Public key that signed the checkpoints, as listed by GET /ledger/log/keys. Default: the keys stored in the database. Repeatable, for keys that were replaced or of several platforms." placeholder:"KEY"`
}

// published returns the checkpoints and the keys.
func (l checkpointFlags) published(ctx context.Context, env *Env) (options audit.VerifyOptions, err error) {
	for _, text := range l.Key {
		key, err := audit.ParseLogKey(text)
		if err != nil {
			return options, fmt.Errorf("--key: %w", err)
		}
		options.Keys = append(options.Keys, key)
	}
	for _, where := range l.Checkpoints {
		found, err := env.ReadCheckpoints(ctx, where)
		if err != nil {
			return options, fmt.Errorf("--checkpoints: %w", err)
		}
		options.Published = append(options.Published, found...)
	}
	return options, nil
}

func (l ledgerVerifyCommand) Run(ctx context.Context, env *Env) error {
	options, err := l.parseVerification(ctx, env)
	if err != nil {
		return err
	}
	if l.Export != "" {
		return l.verifyExport(ctx, env, options)
	}
	return l.with(ctx, env, OnBooks, func(services Services) error {
		report, err := services.Audit().Verify(ctx, options)
		if err != nil {
			return err
		}
		return printCheck(env.Out, l.Output, report)
	})
}

func (l ledgerVerifyCommand) parseVerification(ctx context.Context, env *Env) (options audit.VerifyOptions, err error) {
	if l.MaxUnsealed <= 0 {
		return options, fmt.Errorf("--max-unsealed must be above zero, not %s", l.MaxUnsealed)
	}
	options.SealedBefore = env.Clock.Now().Add(-l.MaxUnsealed)
	published, err := l.published(ctx, env)
	options.Published, options.Keys = published.Published, published.Keys
	return options, err
}

// verifyExport verifies an exported log file.
func (l ledgerVerifyCommand) verifyExport(ctx context.Context, env *Env, options audit.VerifyOptions) error {
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
		if err := l.note(env, "The signatures of the checkpoints were not verified; set --key to verify them.\n"); err != nil {
			return err
		}
	}
	return printCheck(env.Out, l.Output, report)
}
