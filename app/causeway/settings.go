package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/cli"
	httpapi "causeway/adapters/http"
	"causeway/adapters/pages"
	"causeway/core/customer"
)

// serverFlags are the settings of every command that runs the service.
type serverFlags struct {
	Connections      int           `name:"connections" env:"CAUSEWAY_CONNECTIONS" default:"16" help:"Maximum number of database connections for requests and jobs, at least 4." group:"Database"`
	ReadConnections  int           `name:"read-connections" env:"CAUSEWAY_READ_CONNECTIONS" default:"4" help:"Maximum number of further database connections for lists, reports and exports." group:"Database"`
	PublicURL        string        `env:"CAUSEWAY_PUBLIC_URL" help:"Public base URL of the API, without the version. Default: http://<listen>." placeholder:"URL" group:"Requests"`
	SandboxSpeed     int           `env:"CAUSEWAY_SANDBOX_SPEED" default:"1" help:"Divides the simulated delays of the sandbox: 60 makes a minute a second." group:"Sandbox"`
	SandboxUMADomain string        `name:"sandbox-uma-domain" env:"CAUSEWAY_SANDBOX_UMA_DOMAIN" default:"sandbox.uma.test" help:"Domain of the sandbox's UMA test addresses." group:"Sandbox"`
	Console          bool          `env:"CAUSEWAY_CONSOLE" default:"true" negatable:"" help:"Serve the pages of those who work with the service, under /console of the public URL." group:"Requests"`
	RatePerSecond    int           `name:"rate-limit" env:"CAUSEWAY_RATE_LIMIT" default:"500" help:"Requests per second for each API token and agent, in each process. All tokens of a platform together have four times as many, and so have its agents." group:"Requests"`
	RateBurst        int           `name:"rate-burst" env:"CAUSEWAY_RATE_BURST" default:"1000" help:"Requests that an API token or agent may send in one burst; those of a platform together four times as many." group:"Requests"`
	RequestTimeout   time.Duration `env:"CAUSEWAY_REQUEST_TIMEOUT" default:"20s" help:"Maximum duration of a request." group:"Requests"`
	BatchSize        int           `env:"CAUSEWAY_BATCH_SIZE" default:"256" help:"Maximum number of commands, such as payments, that one database transaction commits together." group:"Requests"`
	BatchTimeout     time.Duration `env:"CAUSEWAY_BATCH_TIMEOUT" default:"15s" help:"Maximum duration of such a batch." group:"Requests"`
	MaxWaiting       int           `env:"CAUSEWAY_MAX_WAITING" default:"2048" help:"Maximum number of commands of each kind of one platform that wait for a batch, in each process. Further ones get 503." group:"Requests"`
	TrustedProxies   []string      `env:"CAUSEWAY_TRUSTED_PROXIES" help:"Networks of proxies whose X-Forwarded-For header is trusted." placeholder:"CIDR" group:"Requests"`
	AdminListen      string        `env:"CAUSEWAY_ADMIN_LISTEN" default:"127.0.0.1:8081" help:"Address and port for operators: metrics, details of readiness, and Go profiles. Keep it private. If the default is in use, a free port is chosen and logged." placeholder:"ADDRESS" group:"Logs, metrics and traces"`
	LogLevel         string        `env:"CAUSEWAY_LOG_LEVEL" default:"info" enum:"debug,info,warning,error" help:"Minimum log level: debug, info, warning or error." group:"Logs, metrics and traces"`
	LogFormat        string        `env:"CAUSEWAY_LOG_FORMAT" default:"text" enum:"text,json" help:"Log format: text or json." group:"Logs, metrics and traces"`
	// AllowPrivateWebhooks is a flag of each command, because the defaults differ.
	AllowPrivateWebhooks bool `kong:"-"`
	// databaseReadURL is a flag of serve.
	databaseReadURL   string `kong:"-"`
	readFlags         `group:"Reports, statements and uploads"`
	cli.CompanyFlags  `group:"Reports, statements and uploads"`
	jobFlags          `group:"Jobs and rails"`
	retentionFlags    `group:"Retention"`
	cli.ThresholdFlag `group:"Verification and screening"`
	rateFlags         `group:"Exchange rates"`
	sealFlags         `group:"Ledger log"`
	cli.BlobFlags     `group:"Documents"`
	identityFlags     `group:"Verification and screening"`
	nameCheckFlags    `group:"Verification and screening"`
	singleSignOnFlags `group:"Console"`
	issuerFlags       `group:"Embedded wallets"`
	mailFlags         `group:"Mails and text messages"`
	smsFlags          `group:"Mails and text messages"`
	walletChainFlags  `group:"Embedded wallets"`
	umaFlags          `group:"UMA"`
	testFlags         `group:"UMA"`
	traceFlags        `group:"Logs, metrics and traces"`

	// logRefused logs requests that are refused, for developers.
	logRefused bool `kong:"-"`
}

// validate returns an error for each invalid value, with the name of its setting.
func (c serverFlags) validate() error {
	var errs []error
	refuse := func(setting, must string, got any) {
		errs = append(errs, fmt.Errorf("%s must be %s, not %v", setting, must, got))
	}
	if c.Connections < 4 || c.Connections > 1000 {
		refuse("--connections (CAUSEWAY_CONNECTIONS)", "from 4 to 1000", c.Connections)
	}
	if c.ReadConnections < 1 || c.ReadConnections > 1000 {
		refuse("--read-connections (CAUSEWAY_READ_CONNECTIONS)", "from 1 to 1000", c.ReadConnections)
	}
	if c.SandboxSpeed < 1 || c.SandboxSpeed > 100_000 {
		refuse("--sandbox-speed (CAUSEWAY_SANDBOX_SPEED)", "from 1 to 100000", c.SandboxSpeed)
	}
	if _, ok := customer.ParseUMAAddress("$a@" + c.SandboxUMADomain); !ok || c.SandboxUMADomain != strings.ToLower(c.SandboxUMADomain) {
		refuse("--sandbox-uma-domain (CAUSEWAY_SANDBOX_UMA_DOMAIN)", "a host name such as sandbox.uma.test", c.SandboxUMADomain)
	}
	if c.RatePerSecond < 1 {
		refuse("--rate-limit (CAUSEWAY_RATE_LIMIT)", "1 or more", c.RatePerSecond)
	}
	if c.RateBurst < c.RatePerSecond {
		refuse("--rate-burst (CAUSEWAY_RATE_BURST)", "at least --rate-limit", c.RateBurst)
	}
	if c.RequestTimeout < time.Second || c.RequestTimeout > 5*time.Minute {
		refuse("--request-timeout (CAUSEWAY_REQUEST_TIMEOUT)", "from 1s to 5m", c.RequestTimeout)
	}
	c.checkReads(refuse)
	c.CheckCompany(refuse)
	c.checkAdmin(refuse)
	if c.BatchSize < 1 || c.BatchSize > 1000 {
		refuse("--batch-size (CAUSEWAY_BATCH_SIZE)", "from 1 to 1000", c.BatchSize)
	}
	if c.BatchTimeout < time.Second || c.BatchTimeout > 5*time.Minute {
		refuse("--batch-timeout (CAUSEWAY_BATCH_TIMEOUT)", "from 1s to 5m", c.BatchTimeout)
	}
	if c.MaxWaiting < 1 || c.MaxWaiting > 1_000_000 {
		refuse("--max-waiting (CAUSEWAY_MAX_WAITING)", "from 1 to 1000000", c.MaxWaiting)
	}
	c.checkJobs(refuse)
	c.checkRetention(refuse)
	if err := c.CheckThreshold(); err != nil {
		errs = append(errs, err)
	}
	c.checkRates(refuse)
	c.checkSealing(refuse)
	c.checkIdentity(c.PublicURL, refuse)
	c.checkNameCheck(refuse)
	c.checkSingleSignOn(c.PublicURL, refuse)
	c.checkIssuers(refuse)
	c.checkMail(refuse)
	c.checkSMS(refuse)
	c.checkTraces(refuse)
	c.checkUMA(refuse)
	c.checkTestHosts(refuse)
	if _, err := c.trustedProxies(); err != nil {
		refuse("--trusted-proxies (CAUSEWAY_TRUSTED_PROXIES)", "networks such as 10.0.0.0/8", strings.Join(c.TrustedProxies, ","))
	}
	if u, err := url.Parse(c.PublicURL); c.PublicURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		refuse("--public-url (CAUSEWAY_PUBLIC_URL)", "an address such as https://pay.example.com", c.PublicURL)
	}
	return errors.Join(errs...)
}

func (c serverFlags) trustedProxies() ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range c.TrustedProxies {
		network, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// baseURL returns the URL of the API, version included.
func (c serverFlags) baseURL(listener net.Addr) string {
	if c.PublicURL != "" {
		return strings.TrimRight(c.PublicURL, "/") + httpapi.BasePath
	}
	if listener == nil {
		return httpapi.BasePath
	}
	host, port, _ := net.SplitHostPort(listener.String())
	if ip, err := netip.ParseAddr(host); err == nil && (ip.IsUnspecified() || ip.IsLoopback()) {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + httpapi.BasePath
}

// publicURL returns the URL of the service, without the version of the API.
func (c serverFlags) publicURL(listener net.Addr) string {
	return strings.TrimSuffix(c.baseURL(listener), httpapi.BasePath)
}

// verificationURL returns the URL of the pages of a verification, to which a token is added.
func (c serverFlags) verificationURL(listener net.Addr) string {
	return c.publicURL(listener) + pages.LinkPath
}

func (c serverFlags) logger() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(os.Stderr)
	if level, err := logrus.ParseLevel(c.LogLevel); err == nil {
		log.SetLevel(level)
	}
	if c.LogFormat == "json" {
		log.SetFormatter(&logrus.JSONFormatter{TimestampFormat: time.RFC3339Nano})
	}
	return log
}
