package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"causeway/adapters/cli"
	"causeway/adapters/mcp"
)

type mcpCommand struct {
	Serve mcpServeCommand `cmd:"" default:"withargs" help:"Offer the operations of an agent as tools to a language model, over the Model Context Protocol: on standard input and output, or over HTTP with --listen. causeway mcp is the same. Without a token the program offers a tool that redeems a device code."`
	Pair  mcpPairCommand  `cmd:"" help:"Redeem the device code of an agent, and keep its access token in a file for causeway mcp."`
}

// mcpServiceFlags say which service is called, and where access tokens are kept.
type mcpServiceFlags struct {
	URL       string `name:"url" env:"CAUSEWAY_URL" required:"" help:"URL of the service, version included, such as http://localhost:8080/2025-10-13." placeholder:"URL"`
	TokenFile string `help:"File in which access tokens of paired agents are kept, by the URL of the service. Default: causeway/agent-tokens.json in the user's folder of settings." placeholder:"PATH" type:"path"`
}

func (f mcpServiceFlags) client() (*mcp.Client, error) {
	client, err := mcp.NewClient(f.URL)
	if err != nil {
		return nil, fmt.Errorf("--url (CAUSEWAY_URL) %w", err)
	}
	return client, nil
}

func (f mcpServiceFlags) store() (*mcp.TokenStore, error) {
	if f.TokenFile != "" {
		return &mcp.TokenStore{Path: f.TokenFile}, nil
	}
	path, err := mcp.DefaultTokenPath()
	return &mcp.TokenStore{Path: path}, err
}

type mcpServeCommand struct {
	mcpServiceFlags
	AgentToken     string   `env:"CAUSEWAY_AGENT_TOKEN" secret:"" help:"Access token of the agent. Default: the one in --token-file." placeholder:"TOKEN"`
	Listen         string   `name:"listen" help:"Serve streamable HTTP at this address and port, such as 127.0.0.1:8090, instead of standard input and output. Each client sends the access token of its own agent." placeholder:"ADDRESS"`
	AllowedOrigins []string `name:"allowed-origin" help:"With --listen: web origin whose pages may call the server, such as https://app.example.com. Its host may also be the name of the server, for example behind a proxy." placeholder:"ORIGIN"`
	LogLevel       string   `name:"log-level" env:"CAUSEWAY_LOG_LEVEL" default:"info" enum:"debug,info,warning,error" help:"Minimum level of the log on standard error: debug, info, warning or error."`
}

// Run serves until the client disconnects or the process is asked to stop. Nothing but messages of the protocol is
// written to standard output.
func (c mcpServeCommand) Run(ctx context.Context, _ *cli.Env) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	options := mcp.Options{Client: client, Version: version, Log: c.logger()}
	if client.SendsTokensUnencrypted() {
		options.Log.Warn("access tokens are sent without encryption; use an https URL", "setting", "CAUSEWAY_URL")
	}
	if c.Listen != "" {
		return c.serveHTTP(ctx, options)
	}
	if len(c.AllowedOrigins) > 0 {
		return errors.New("--allowed-origin needs --listen")
	}
	if c.AgentToken != "" {
		token, err := mcp.NewToken(c.AgentToken)
		if err != nil {
			return fmt.Errorf("--agent-token (CAUSEWAY_AGENT_TOKEN): %w", err)
		}
		return mcp.ServeStdio(ctx, options, token, nil, os.Stdin, os.Stdout)
	}
	store, err := c.store()
	if err != nil {
		return err
	}
	token, err := store.Load(client.BaseURL())
	if err != nil {
		return err
	}
	return mcp.ServeStdio(ctx, options, token, store, os.Stdin, os.Stdout)
}

func (c mcpServeCommand) serveHTTP(ctx context.Context, options mcp.Options) error {
	if c.AgentToken != "" {
		return errors.New("--listen: each client sends the access token of its own agent; unset --agent-token (CAUSEWAY_AGENT_TOKEN)")
	}
	server, err := mcp.NewHTTPServer(options, c.AllowedOrigins)
	if err != nil {
		return fmt.Errorf("--allowed-origin %w", err)
	}
	listener, err := listen(ctx, "--listen", c.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	if address, ok := listener.Addr().(*net.TCPAddr); ok && !address.IP.IsLoopback() {
		options.Log.Warn("other machines can reach this port, and access tokens arrive without encryption; put a proxy with TLS before it",
			"setting", "--listen")
	}
	options.Log.Info("serving", "address", "http://"+listener.Addr().String()+mcp.Path)
	return server.Serve(ctx, listener)
}

// logger writes to standard error.
func (c mcpServeCommand) logger() *slog.Logger {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warning": slog.LevelWarn, "error": slog.LevelError}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: levels[c.LogLevel]}))
}

type mcpPairCommand struct {
	mcpServiceFlags
	Code string `arg:"" help:"Device code of the agent, such as AGENT-K7QF-M2XP."`
}

// Run prints the agent, and where the token is; never the token.
func (c mcpPairCommand) Run(ctx context.Context, env *cli.Env) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	store, err := c.store()
	if err != nil {
		return err
	}
	agent, err := mcp.Pair(ctx, client, store, c.Code)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Out, "Paired with %s. Its access token is in %s.\n", agent, store.Path)
	return err
}
