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
	Create platformCreateCommand `cmd:"" help:"Make a platform and its first token. The secret is printed this once."`
}

type platformCreateCommand struct {
	databaseFlags
	Name        string `required:"" help:"What people call it."`
	Environment string `required:"" enum:"SANDBOX,PRODUCTION" help:"SANDBOX moves nothing; PRODUCTION is for real. It never changes."`
	Regulated   bool   `help:"It is a regulated financial institution, and vouches for its customers."`
	PublicURL   string `env:"CAUSEWAY_PUBLIC_URL" default:"http://localhost:8080" help:"Address to print as baseUrl, without the version." placeholder:"URL"`
}

func (p platformCreateCommand) Run(ctx context.Context, out io.Writer) (err error) {
	url, done, err := p.open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	made := ids.New()
	db, err := postgres.Open(ctx, postgres.Options{URL: url, MaxConnections: 2, Clock: systemClock{}, IDs: made, Render: api.RenderEvent})
	if err != nil {
		return err
	}
	defer db.Close()
	founded, err := platforms.New(platforms.Config{Store: db, Clock: systemClock{}, IDs: made, Rails: railsByEnvironment(systemClock{}, 1)}).
		Create(ctx, platforms.CreateRequest{Name: p.Name, Environment: platform.Environment(p.Environment), Regulated: p.Regulated})
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(credentialsOf(founded, serverFlags{PublicURL: p.PublicURL}.baseURL(nil)))
}

// credentials are what a platform's programs need to call the service.
type credentials struct {
	PlatformID   string `json:"platformId"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	BaseURL      string `json:"baseUrl"`
}

func credentialsOf(f platforms.Created, baseURL string) credentials {
	return credentials{PlatformID: f.Platform.ID.String(), ClientID: f.Token.ClientID, ClientSecret: f.Secret, BaseURL: baseURL}
}

func noDatabaseError(dir string) error {
	return fmt.Errorf("there is no database: %s does not exist and DATABASE_URL is not set; start causeway dev, or name the folder with --data", dir)
}
