package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/outbox"
	webhooksender "causeway/adapters/webhooks"
	"causeway/app/webhooks"
	"causeway/core/ident"
	"causeway/core/platform"
)

type webhooksCommand struct {
	RotateKeys webhooksRotateCommand `cmd:"" help:"Replace the keys that sign webhooks: those of GET /webhook-keys. Servers use the new ones within a minute."`
}

type webhooksRotateCommand struct {
	databaseFlags
	masterKeyFlag
	Environment string        `required:"" enum:"SANDBOX,PRODUCTION" help:"The platforms whose webhooks the keys sign." placeholder:"SANDBOX|PRODUCTION"`
	Overlap     time.Duration `default:"24h" help:"How long the replaced keys stay valid, so that endpoints can fetch the new ones. 0s if the keys became known to others."`
	actorFlag
}

// Run replaces the signing keys of an environment. It does not need the old keys, which may be lost.
func (c webhooksRotateCommand) Run(ctx context.Context, out io.Writer) error {
	if c.Overlap < 0 || c.Overlap > 90*24*time.Hour {
		return fmt.Errorf("--overlap must be from 0s to 2160h, not %s", c.Overlap)
	}
	sealer, err := c.sealer(c.databaseFlags)
	if err != nil {
		return err
	}
	action, err := c.action(platform.OperatorRotatedWebhookKeys, ident.Platform{}, c.Environment)
	if err != nil {
		return err
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		if err := db.RecordOperatorAction(ctx, action); err != nil {
			return err
		}
		keys := webhooksender.NewKeyring(outbox.NewKeys(db.Pool()), db, sealer, systemClock{}, ids.New())
		service := webhooks.New(webhooks.Config{Keys: keys, Clock: systemClock{}})
		if err := service.Rotate(ctx, platform.Environment(c.Environment), c.Overlap); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "Webhooks of %s platforms are signed with new keys, listed by GET /webhook-keys.\n", c.Environment)
		return err
	})
}
