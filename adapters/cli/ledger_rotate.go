package cli

import (
	"context"

	"causeway/core/ident"
	"causeway/core/platform"
)

type ledgerRotateCommand struct {
	DatabaseFlags
	MasterKeyFlag
	actorFlag
}

// Run replaces the key that signs checkpoints. It does not need the old key, which may be
// lost.
func (l ledgerRotateCommand) Run(ctx context.Context, env *Env) error {
	return l.withAccess(ctx, env, Access{MasterKey: &l.MasterKeyFlag}, func(services Services) error {
		action, err := l.action(ctx, env, services, platform.OperatorRotatedLedgerKey, ident.Platform{}, "")
		if err != nil {
			return err
		}
		if err := services.Platforms().Record(ctx, action); err != nil {
			return err
		}
		key, err := services.RotateLedgerKey(ctx)
		return env.say(err, "New checkpoints are signed with key %s, listed by GET /ledger/log/keys.\n", key.ID)
	})
}
