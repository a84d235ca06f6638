package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"causeway/adapters/postgres"
	"causeway/adapters/rails/sandbox"
	"causeway/app/internal/connections"
	"causeway/app/platforms"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type platformCommand struct {
	Create platformCreateCommand `cmd:"" help:"Create a platform and its first API token. The secret is shown only once."`
	Set    platformSetCommand    `cmd:"" help:"Change what only the operator of the service decides about a platform."`
	List   platformListCommand   `cmd:"" help:"Print the platforms, oldest first."`
}

type platformCreateCommand struct {
	databaseFlags
	Name        string `required:"" help:"Display name." placeholder:"NAME"`
	Environment string `required:"" enum:"SANDBOX,PRODUCTION" help:"SANDBOX simulates payments; PRODUCTION moves money. It cannot be changed later." placeholder:"SANDBOX|PRODUCTION"`
	Regulated   bool   `help:"The platform is a regulated financial institution that verifies its own customers."`
	publicURLFlag
	actorFlag
}

// publicURLFlag is the base URL that commands print with credentials.
type publicURLFlag struct {
	PublicURL string `env:"CAUSEWAY_PUBLIC_URL" default:"http://localhost:8080" help:"URL to print as baseUrl, without the version." placeholder:"URL"`
}

func (f publicURLFlag) baseURL() string { return serverFlags{PublicURL: f.PublicURL}.baseURL(nil) }

func (p platformCreateCommand) Run(ctx context.Context, out io.Writer) error {
	return p.withPlatforms(ctx, p.Actor, func(_ *postgres.DB, operator *platforms.Operator) error {
		created, err := operator.CreatePlatform(ctx, platforms.CreateRequest{Name: p.Name, Environment: platform.Environment(p.Environment), Regulated: p.Regulated})
		if err != nil {
			return fieldErrors("nothing was created", err)
		}
		return writeCredentials(out, credentialsOf(created.IssuedToken, p.baseURL()))
	})
}

type platformSetCommand struct {
	databaseFlags
	Platform  string `help:"Platform id, as printed by causeway platform list. Required if there are several platforms." placeholder:"ID"`
	Regulated bool   `required:"" negatable:"" help:"Whether the platform is a regulated financial institution that verifies its own customers. Its new customers are then APPROVED; present ones keep their status."`
	actorFlag
}

func (c platformSetCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withPlatforms(ctx, c.Actor, func(db *postgres.DB, operator *platforms.Operator) error {
		owner, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		changed, err := operator.SetRegulated(ctx, owner, c.Regulated)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		is := "is"
		if !changed.Regulated {
			is = "is not"
		}
		_, err = fmt.Fprintf(out, "%s %s regulated.\n", changed.ID, is)
		return err
	})
}

// withPlatforms calls do with the use cases of an operator on the configured database.
func (f databaseFlags) withPlatforms(ctx context.Context, actor string, do func(*postgres.DB, *platforms.Operator) error) error {
	return f.withWritableDatabase(ctx, func(db *postgres.DB, idGenerator ports.IDs) error {
		return withConnections(ctx, db, idGenerator, func(opened *connections.Connections) error {
			rails := railsByEnvironment(sandbox.New(systemClock{}, 1), connections.NewRail(opened, db, db))
			service := platforms.New(platforms.Config{Store: db, Clock: systemClock{}, IDs: idGenerator, Rails: rails})
			operator, err := service.As(actor)
			if err != nil {
				return fieldErrors("nothing was changed", err)
			}
			return do(db, operator)
		})
	})
}

type platformListCommand struct{ databaseFlags }

// platformsPerRead is the number of platforms that one query reads.
const platformsPerRead = 1000

func (p platformListCommand) Run(ctx context.Context, out io.Writer) error {
	return p.withDatabase(ctx, func(db *postgres.DB) error {
		rows := table{}
		for after := (ident.Platform{}); ; {
			page, err := db.Platforms(ctx, after, platformsPerRead)
			if err != nil {
				return err
			}
			for _, found := range page {
				rows.add(found.ID.String(), string(found.Environment), found.CreatedAt.Format(time.RFC3339), found.Name)
				after = found.ID
			}
			if len(page) < platformsPerRead {
				break
			}
		}
		if len(rows.rows) == 0 {
			_, err := fmt.Fprintln(out, "There are no platforms. Create one with: causeway platform create")
			return err
		}
		return rows.write(out, "platform", "environment", "created", "name")
	})
}

// credentials is the content of credentials.json: what a client needs to call the API.
type credentials struct {
	PlatformID   string `json:"platformId"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	BaseURL      string `json:"baseUrl"`
}

func credentialsOf(issued platforms.IssuedToken, baseURL string) credentials {
	return credentials{PlatformID: issued.Token.Platform.String(), ClientID: issued.Token.ClientID, ClientSecret: issued.Secret, BaseURL: baseURL}
}

func writeCredentials(out io.Writer, c credentials) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(c)
}

func noDatabaseError(dir string) error {
	return fmt.Errorf("no database: %s does not exist and DATABASE_URL is not set; run causeway dev, or set --data", dir)
}
