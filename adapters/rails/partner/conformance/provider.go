package conformance

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/partner"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/ports"
)

// ProviderOptions say which provider that moves no money is tested, and with what.
type ProviderOptions struct {
	// Connection has the settings url and secret.
	Connection rail.Connection
	Secrets    ports.Secrets
	Clock      ports.Clock
	// Within is how soon the provider has to answer.
	Within time.Duration
	Skip   []string
}

// ProviderSuite tests one provider once.
type ProviderSuite struct {
	ProviderOptions
	client  *partner.Client
	secrets signedmessage.Secrets
	rules   func(*ProviderSuite) []rule
}

// newProviderSuite returns a suite with rules, or an error for options that are not valid.
func newProviderSuite(ctx context.Context, o ProviderOptions, rules func(*ProviderSuite) []rule) (*ProviderSuite, error) {
	s := &ProviderSuite{ProviderOptions: o, rules: rules}
	if err := checkSkipped(o.Skip, rules(s)); err != nil {
		return nil, err
	}
	var err error
	s.client, s.secrets, err = open(ctx, o.Connection, o.Secrets, o.Clock)
	return s, err
}

// common returns the rules of every provider. The request is one that succeeds if it is signed.
func (s *ProviderSuite) common(r request) []rule {
	health := func(ctx context.Context, client *partner.Client) error { return orError(client.Health(ctx)) }
	signed := signing{s.Connection, s.Clock, s.secrets, []request{{"GET /health", health}, r}}
	return append([]rule{{"health", "GET /health says what the provider is", func(ctx context.Context) error {
		return health(ctx, s.client)
	}}}, signed.rules()...)
}

// platform returns the id of a platform that does not exist.
func (s *ProviderSuite) platform() string {
	return ident.NewPlatform(func(time.Time) uuid.UUID { return uuid.New() }, s.Clock.Now()).String()
}

// Run checks every rule, calls report for each, and returns how many the provider does not follow.
func (s *ProviderSuite) Run(ctx context.Context, report func(Result)) (failed int) {
	defer s.client.Close()
	return run(ctx, s.rules(s), s.Skip, report)
}
