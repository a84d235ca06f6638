package cli

import (
	"context"
	"fmt"
	"time"

	"causeway/core/ident"
	"causeway/core/platform"
)

// WebhooksCommand is about the keys that sign webhooks.
type WebhooksCommand struct {
	RotateKeys webhooksRotateCommand `cmd:"" help:"Replace the keys that sign webhooks: those of GET /webhook-keys. Servers use the new ones within a minute."`
}

type webhooksRotateCommand struct {
	DatabaseFlags
	MasterKeyFlag
	Environment string        `required:"" enum:"SANDBOX,PRODUCTION" help:"The platforms whose webhooks the keys sign." placeholder:"SANDBOX|PRODUCTION"`
	Overlap     time.Duration `default:"24h" help:"How long the replaced keys stay valid, so that endpoints can fetch the new ones. 0s if the keys became known to others."`
	actorFlag
}

// Run replaces the signing keys of an environment. It does not need the old keys, which may be lost.
func (c webhooksRotateCommand) Run(ctx context.Context, env *Env) error {
	if c.Overlap < 0 || c.Overlap > 90*24*time.Hour {
		return fmt.Errorf("--overlap must be from 0s to 2160h, not %s", c.Overlap)
	}
	return c.withAccess(ctx, env, Access{MasterKey: &c.MasterKeyFlag}, func(services Services) error {
		action, err := c.action(ctx, env, services, platform.OperatorRotatedWebhookKeys, ident.Platform{}, c.Environment)
		if err != nil {
			return err
		}
		if err := services.Platforms().Record(ctx, action); err != nil {
			return err
		}
		err = services.Webhooks().Rotate(ctx, platform.Environment(c.Environment), c.Overlap)
		return env.say(err, "Webhooks of %s platforms are signed with new keys, listed by GET /webhook-keys.\n", c.Environment)
	})
}
