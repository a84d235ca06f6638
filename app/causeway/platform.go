package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"causeway/adapters/http/api"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/platforms"
	"causeway/core/platform"
)

type platformCommand struct {
	Create platformCreateCommand `cmd:"" help:"Create a platform and its first API token. The secret is shown only once."`
}

type platformCreateCommand struct {
	databaseFlags
	Name        string `required:"" help:"Display name." placeholder:"NAME"`
	Environment string `required:"" enum:"SANDBOX,PRODUCTION" help:"SANDBOX simulates payments; PRODUCTION moves money. It cannot be changed later." placeholder:"SANDBOX|PRODUCTION"`
	Regulated   bool   `help:"The platform is a regulated financial institution that verifies its own customers."`
	PublicURL   string `env:"CAUSEWAY_PUBLIC_URL" default:"http://localhost:8080" help:"URL to print as baseUrl, without the version." placeholder:"URL"`
}

func (p platformCreateCommand) Run(ctx context.Context, out io.Writer) (err error) {
	url, release, err := p.open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	idGenerator := ids.New()
	db, err := openMigrated(ctx, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2, Clock: systemClock{}, IDs: idGenerator, Render: api.RenderEvent})
	if err != nil {
		return err
	}
	defer db.Close()
	created, err := platforms.New(platforms.Config{Store: db, Clock: systemClock{}, IDs: idGenerator, Rails: railsByEnvironment(systemClock{}, 1)}).
		Create(ctx, platforms.CreateRequest{Name: p.Name, Environment: platform.Environment(p.Environment), Regulated: p.Regulated})
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(credentialsOf(created, serverFlags{PublicURL: p.PublicURL}.baseURL(nil)))
}

// credentials is the content of credentials.json: what a client needs to call the API.
type credentials struct {
	PlatformID   string `json:"platformId"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	BaseURL      string `json:"baseUrl"`
}

func credentialsOf(created platforms.Created, baseURL string) credentials {
	return credentials{PlatformID: created.Platform.ID.String(), ClientID: created.Token.ClientID, ClientSecret: created.Secret, BaseURL: baseURL}
}

func noDatabaseError(dir string) error {
	return fmt.Errorf("no database: %s does not exist and DATABASE_URL is not set; run causeway dev, or set --data", dir)
}
