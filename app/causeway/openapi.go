package main

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"causeway/adapters/cli"
	httpapi "causeway/adapters/http"
	"causeway/adapters/http/api"
)

// openAPICommand prints what a server publishes as openapi.json, for generators of clients and documentation.
type openAPICommand struct {
	PublicURL string `env:"CAUSEWAY_PUBLIC_URL" default:"http://localhost:8080" help:"Base URL of the server in the description, without the version." placeholder:"URL"`
}

// Run describes an API whose use cases are not wired: it needs no database, and nothing can be called.
func (c openAPICommand) Run(env *cli.Env) error {
	unwired := app{serverFlags: serverFlags{PublicURL: c.PublicURL}}
	server := httpapi.New(httpapi.Config{PublicURL: unwired.baseURL(nil), Version: version, AgentAuthenticator: unwired.agents,
		Metrics: prometheus.NewRegistry(), Log: logrus.StandardLogger()})
	api.Register(server, unwired.useCases(unwired.verificationURL(nil)))
	if err := server.Build(); err != nil {
		return err
	}
	description, err := server.Description()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Out, "%s\n", description)
	return err
}
