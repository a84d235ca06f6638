package main

import (
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	httpapi "causeway/adapters/http"
	manualidentity "causeway/adapters/identity/manual"
	"causeway/adapters/identity/provider"
	sandboxidentity "causeway/adapters/identity/sandbox"
	"causeway/core/account"
	"causeway/core/platform"
	"causeway/ports"
)

// identityFlags say who checks the identities of customers of production platforms.
type identityFlags struct {
	OwnershipLimits []string `name:"ownership-limits" env:"CAUSEWAY_OWNERSHIP_LIMITS" default:"EEA=1000 EUR,GB=1000 EUR" help:"Highest amounts that are paid to a wallet before its owner has proven that it is theirs, by the region of the customer: a country, EEA, or * for all others and for platforms. In whole units of a currency; none for no limits. See docs/wallet-ownership.md." placeholder:"REGION=AMOUNT"`

	Identity       string        `name:"identity" env:"CAUSEWAY_IDENTITY" default:"manual" enum:"manual,provider" help:"Who verifies the customers of production platforms: manual is the operators, with causeway reviews; provider is an identity provider over HTTP, as docs/identity-provider.md describes."`
	IdentityURL    string        `name:"identity-url" env:"CAUSEWAY_IDENTITY_URL" help:"With --identity provider: base URL of the provider, https, or http for a loopback address." placeholder:"URL"`
	IdentityToken  string        `name:"identity-token" env:"CAUSEWAY_IDENTITY_TOKEN" secret:"" help:"With --identity provider: token that is sent to the provider with each request." placeholder:"TOKEN"`
	IdentitySecret string        `name:"identity-secret" env:"CAUSEWAY_IDENTITY_SECRET" secret:"" help:"With --identity provider: secret with which the provider signs its decisions, whsec_ and base64. During a rotation the new and the old one, separated by a comma." placeholder:"SECRET"`
	IdentityPoll   time.Duration `name:"identity-poll" env:"CAUSEWAY_IDENTITY_POLL" default:"1m" help:"With --identity provider: how long after a submission the provider is asked for its decision, in case its message was lost. It is asked again less and less often, up to once an hour."`
}

// checkIdentity reports invalid values with the name of their setting, and none of a secret.
func (f identityFlags) checkIdentity(publicURL string, refuse func(setting, must string, got any)) {
	if _, err := account.ParseOwnershipLimits(f.OwnershipLimits); err != nil {
		refuse("--ownership-limits (CAUSEWAY_OWNERSHIP_LIMITS)", "limits such as EEA=1000 EUR", err)
	}
	if f.Identity != "provider" {
		for setting, value := range map[string]string{
			"--identity-url (CAUSEWAY_IDENTITY_URL)": f.IdentityURL, "--identity-token (CAUSEWAY_IDENTITY_TOKEN)": f.IdentityToken,
			"--identity-secret (CAUSEWAY_IDENTITY_SECRET)": f.IdentitySecret,
		} {
			if value != "" {
				refuse(setting, "left out unless --identity (CAUSEWAY_IDENTITY) is provider", "set")
			}
		}
		return
	}
	if _, err := provider.ParseURL(f.IdentityURL); err != nil {
		refuse("--identity-url (CAUSEWAY_IDENTITY_URL)", strings.TrimPrefix(err.Error(), "must be "), f.IdentityURL)
	}
	if !provider.IsToken(f.IdentityToken) {
		refuse("--identity-token (CAUSEWAY_IDENTITY_TOKEN)", "16 to 500 printable ASCII characters without spaces", "the one that is set")
	}
	if _, err := provider.ParseSecrets(f.IdentitySecret); err != nil {
		refuse("--identity-secret (CAUSEWAY_IDENTITY_SECRET)", "secrets of whsec_ and the base64 text of 24 to 64 random bytes", "what is set")
	}
	if f.IdentityPoll < time.Second || f.IdentityPoll > time.Hour {
		refuse("--identity-poll (CAUSEWAY_IDENTITY_POLL)", "from 1s to 1h", f.IdentityPoll)
	}
	if publicURL == "" {
		refuse("--public-url (CAUSEWAY_PUBLIC_URL)", "set with --identity provider: it is where the provider sends its decisions", "empty")
	}
}

// openIdentity creates what checks identities, by the environment of the platform.
func (a *app) openIdentity() (ports.IdentityByEnvironment, error) {
	by := ports.IdentityByEnvironment{platform.Sandbox: sandboxidentity.Identity{}, platform.Production: manualidentity.Identity{}}
	if a.Identity != "provider" {
		return by, nil
	}
	a.identityMetrics = newIdentityMetrics(a.metrics)
	connected, err := provider.New(provider.Config{URL: a.IdentityURL, Token: a.IdentityToken, CallbackURL: strings.TrimRight(a.PublicURL,
		"/") + provider.CallbackPath,
		Files: a.files, Clock: systemClock{}, PollInterval: a.IdentityPoll, Metrics: a.identityMetrics})
	by[platform.Production] = connected
	return by, err
}

// livenessOf returns those of the adapters that check whether somebody is present.
func livenessOf(identities ports.IdentityByEnvironment) ports.LivenessByEnvironment {
	by := ports.LivenessByEnvironment{}
	for environment, identity := range identities {
		if liveness, checks := identity.(ports.Liveness); checks {
			by[environment] = liveness
		}
	}
	return by
}

// callbackRate is the rate limit of one address that sends decisions.
var callbackRate = httpapi.Rate{PerSecond: 100, Burst: 500}

// mountIdentity adds the address to which the identity provider sends decisions.
func (a *app) mountIdentity(server *httpapi.API) error {
	if a.Identity != "provider" {
		return nil
	}
	secrets, err := provider.ParseSecrets(a.IdentitySecret)
	if err != nil {
		return err
	}
	limit := server.LimitByAddress(callbackRate,
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	server.Mount(http.MethodPost, provider.CallbackPath, limit(&provider.Callback{
		Secrets: secrets, Decisions: a.verifications, Clock: systemClock{}, Log: a.log, Received: a.identityMetrics.received}))
	return nil
}

// identityMetrics records the requests to the identity provider and its messages.
type identityMetrics struct {
	requests *prometheus.HistogramVec
	messages *prometheus.CounterVec
}

var _ provider.Metrics = (*identityMetrics)(nil)

func newIdentityMetrics(registry *prometheus.Registry) *identityMetrics {
	m := &identityMetrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "causeway_identity_request_seconds", Help: "Duration of requests to the identity provider, by operation and outcome.",
			Buckets: []float64{0.05, 0.2, 1, 5, 15, 60, 240},
		}, []string{"operation", "outcome"}),
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_identity_decisions_total", Help: "Messages with decisions of the identity provider, by what became of them.",
		}, []string{"result"}),
	}
	registry.MustRegister(m.requests, m.messages)
	for _, operation := range []string{"submit", "status", "start-liveness", "liveness"} {
		m.requests.WithLabelValues(operation, "failed")
	}
	for _, result := range []provider.Result{provider.Applied, provider.Unchanged, provider.Refused, provider.Failed} {
		m.messages.WithLabelValues(string(result))
	}
	return m
}

// Requested counts a request.
func (m *identityMetrics) Requested(operation string, err error, duration time.Duration) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.requests.WithLabelValues(operation, outcome).Observe(duration.Seconds())
}

func (m *identityMetrics) received(result provider.Result) {
	m.messages.WithLabelValues(string(result)).Inc()
}
