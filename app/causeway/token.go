package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/platforms"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// tokenCommand manages the tokens of any platform without a token, for example after the
// credentials of a platform were lost.
type tokenCommand struct {
	Create tokenCreateCommand `cmd:"" help:"Create a token of a platform, and print its credentials. The secret is shown only once."`
	List   tokenListCommand   `cmd:"" help:"Print the tokens of a platform, without their secrets."`
	Delete tokenDeleteCommand `cmd:"" help:"Delete a token of a platform. It stops working at once. The last token with the permission MANAGE cannot be deleted: create another one first."`
}

// platformFlag selects a platform.
type platformFlag struct {
	Platform string `help:"Platform id, as printed by causeway platform list. Required if there are several platforms." placeholder:"ID"`
}

type tokenCreateCommand struct {
	databaseFlags
	platformFlag
	Name        string   `required:"" help:"Name of the token, such as who uses it." placeholder:"NAME"`
	Permissions []string `default:"VIEW,TRANSACT,MANAGE" help:"Permissions: a list of VIEW, TRANSACT and MANAGE." placeholder:"LIST"`
	publicURLFlag
	actorFlag
}

func (c tokenCreateCommand) Run(ctx context.Context, out io.Writer) error {
	permissions := make([]platform.Permission, len(c.Permissions))
	for i, text := range c.Permissions {
		permissions[i] = platform.Permission(strings.ToUpper(strings.TrimSpace(text)))
	}
	return c.withPlatforms(ctx, c.Actor, func(db *postgres.DB, operator *platforms.Operator) error {
		owner, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		issued, err := operator.CreateToken(ctx, owner, c.Name, permissions)
		if err != nil {
			return fieldErrors("nothing was created", err)
		}
		return writeCredentials(out, credentialsOf(issued, c.baseURL()))
	})
}

type tokenListCommand struct {
	databaseFlags
	platformFlag
}

func (c tokenListCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		owner, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		rows := table{}
		for paging := (ports.Paging{Limit: 100}); ; {
			page, err := db.Tokens(ctx, owner, ports.TokenFilter{Paging: paging})
			if err != nil {
				return err
			}
			for _, t := range page.Items {
				permissions := make([]string, len(t.Permissions))
				for i, permission := range t.Permissions {
					permissions[i] = string(permission)
				}
				rows.add(t.ID.String(), t.ClientID, strings.Join(permissions, ","), t.CreatedAt.Format(time.RFC3339), t.Name)
				paging.After = t.ID.UUID()
			}
			if !page.More {
				break
			}
		}
		return rows.write(out, "token", "client id", "permissions", "created", "name")
	})
}

type tokenDeleteCommand struct {
	databaseFlags
	platformFlag
	Token string `arg:"" help:"Token id, as printed by causeway token list."`
	actorFlag
}

func (c tokenDeleteCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseToken(c.Token)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Token, err)
	}
	return c.withPlatforms(ctx, c.Actor, func(db *postgres.DB, operator *platforms.Operator) error {
		owner, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		if err := operator.DeleteToken(ctx, owner, id); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s is deleted.\n", id)
		return err
	})
}
