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

// Run describes the API. It needs no database.
func (c openAPICommand) Run(env *cli.Env) error {
	server, err := unwiredAPI(c.PublicURL)
	if err != nil {
		return err
	}
	description, err := server.Description()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Out, "%s\n", description)
	return err
}

// unwiredAPI returns an API whose use cases are not wired, so that nothing can be called.
func unwiredAPI(publicURL string) (*httpapi.API, error) {
	unwired := app{serverFlags: serverFlags{PublicURL: publicURL}}
	server := httpapi.New(httpapi.Config{PublicURL: unwired.baseURL(nil), Version: version, AgentAuthenticator: unwired.agents,
		Metrics: prometheus.NewRegistry(), Log: logrus.StandardLogger()})
	api.Register(server, unwired.useCases(unwired.verificationURL(nil)))
	return server, server.Build()
}
