package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"causeway/adapters/apiclient"
	"causeway/adapters/cli"
)

// serviceFlags name a service and a token of a platform: what a developer has who does not operate the service.
type serviceFlags struct {
	BaseURL      string `name:"base-url" env:"CAUSEWAY_BASE_URL" help:"URL of the service, version included, such as http://localhost:8080/2025-10-13. Default: the one in <data>/credentials.json." placeholder:"URL"`
	ClientID     string `name:"client-id" env:"CAUSEWAY_CLIENT_ID" help:"Client id of the platform's token. Needs --base-url." placeholder:"ID"`
	ClientSecret string `name:"client-secret" env:"CAUSEWAY_CLIENT_SECRET" help:"Secret of --client-id." placeholder:"SECRET"`
}

// credentials returns those of the flags, or those of the data folder.
func (f serviceFlags) credentials(data string) (cli.Credentials, error) {
	fromFlags := cli.Credentials{BaseURL: f.BaseURL, ClientID: f.ClientID, ClientSecret: f.ClientSecret}
	if fromFlags != (cli.Credentials{}) {
		if fromFlags.BaseURL == "" || fromFlags.ClientID == "" || fromFlags.ClientSecret == "" {
			return fromFlags, errors.New("set --base-url, --client-id and --client-secret together, or none of them to use those of --data")
		}
		return fromFlags, nil
	}
	folder := cli.DataFlag{Data: data}
	saved, err := folder.Credentials()
	if errors.Is(err, os.ErrNotExist) {
		return saved, fmt.Errorf("%s does not exist: start causeway dev, set --data to its folder, or set --base-url, --client-id and "+
			"--client-secret", folder.CredentialsPath())
	}
	return saved, err
}

// newAPIClient returns a client whose requests end.
func newAPIClient(c cli.Credentials) *apiclient.Client {
	return &apiclient.Client{BaseURL: strings.TrimRight(c.BaseURL, "/"), ClientID: c.ClientID, ClientSecret: c.ClientSecret,
		HTTP: &http.Client{Timeout: 30 * time.Second}}
}

// tokenFlags are those of a command that speaks to a service with a token.
type tokenFlags struct {
	cli.DataFlag
	serviceFlags
}

func (f tokenFlags) client() (*apiclient.Client, error) {
	c, err := f.credentials(f.Data)
	if err != nil {
		return nil, err
	}
	return newAPIClient(c), nil
}
