package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"causeway/app/platforms"
	"causeway/core/ident"
)

// SandboxResetCommand empties a sandbox platform.
type SandboxResetCommand struct {
	DatabaseFlags
	Platform string `help:"Platform id, as printed by causeway platform list. Default: the platform of <data>/credentials.json, or the only one." placeholder:"ID"`
	MasterKeyFlag
	actorFlag
}

// Help is printed below the help of the command.
func (SandboxResetCommand) Help() string {
	return "The platform is closed, and a new one takes over its tokens, settings and webhook secrets, which keep working. The closed one " +
		"keeps its records, which causeway ledger shows with --platform. Prices and settings of the books begin with the defaults."
}

// Run resets the platform, and writes the id of the new one into the credentials of the data folder.
func (c SandboxResetCommand) Run(ctx context.Context, env *Env) error {
	return c.withAccess(ctx, env, Access{Work: AsRequest, MasterKey: &c.MasterKeyFlag}, func(services Services) error {
		by, err := c.author(ctx, env, services)
		if err != nil {
			return err
		}
		return services.WithOperator(ctx, by, func(operator *platforms.Operator) error {
			p, err := c.resolve(ctx, services)
			if err != nil {
				return err
			}
			next, err := operator.ResetSandbox(ctx, p)
			if err != nil {
				return fieldErrors("nothing was changed", err)
			}
			if err := env.say(nil, "%s is empty. Its platform is now %s; %s is closed.\n", next.Name, next.ID, p); err != nil {
				return err
			}
			return c.FollowReset(ctx, services.Platforms())
		})
	})
}

// resolve returns the platform that is named, or that of the data folder's credentials, or the only one.
func (c SandboxResetCommand) resolve(ctx context.Context, services Services) (ident.Platform, error) {
	if saved, err := c.Credentials(); c.Platform == "" && err == nil && c.DatabaseURL == "" {
		id, err := ident.ParsePlatform(saved.PlatformID)
		if err != nil {
			return id, fmt.Errorf("%s: platformId: %w", c.CredentialsPath(), err)
		}
		current, err := services.Platforms().Current(ctx, id)
		return current.ID, err
	}
	return platformFlag{c.Platform}.resolve(ctx, services)
}

// FollowReset writes the platform that a reset has made into the credentials of the data folder.
func (d DataFlag) FollowReset(ctx context.Context, service *platforms.Service) error {
	saved, err := d.Credentials()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	id, err := ident.ParsePlatform(saved.PlatformID)
	if err != nil {
		return fmt.Errorf("%s: platformId: %w", d.CredentialsPath(), err)
	}
	current, err := service.Current(ctx, id)
	if err != nil || current.ID == id {
		return err
	}
	saved.PlatformID = current.ID.String()
	return d.SaveCredentials(saved)
}
