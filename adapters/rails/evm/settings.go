package evm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// chain has the defaults of a chain.
type chain struct {
	id      uint64
	account account.Type
	native  money.Currency
	// confirmations after which a block is taken as final; see docs/rails.md for the reasons.
	confirmations uint64
	blockTime     time.Duration
	// minTip and maxFee bound the fees, in wei per gas.
	minTip, maxFee *big.Int
	stuckAfter     time.Duration
	// sweepFrom is what an address must hold to be swept, in whole units.
	sweepFrom int64
	// dataFee is what a transfer may cost on layer 1 beside its gas, in wei.
	dataFee *big.Int
}

func gwei(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1_000_000_000)) }

var chains = map[corridor.Rail]chain{
	corridor.Ethereum: {1, account.EthereumWallet, "ETH", 32, 12 * time.Second, big.NewInt(50_000_000), gwei(200), 3 * time.Minute, 50, new(big.Int)},
	corridor.Base:     {8453, account.BaseWallet, "ETH", 60, 2 * time.Second, big.NewInt(1_000_000), gwei(5), time.Minute, 1, gwei(20_000)},
	corridor.Polygon:  {137, account.PolygonWallet, "POL", 100, 2 * time.Second, gwei(30), gwei(2000), time.Minute, 1, new(big.Int)},
}

// Settings are those of a connection, parsed.
type settings struct {
	name   string
	rail   corridor.Rail
	chain  chain
	urls   []string
	tokens map[money.Currency]ports.EVMAddress
	// confirmations, or the node's own word for it (finalized).
	confirmations uint64
	finalized     bool
	account       uint32
	startBlock    uint64
	maxRange      uint64
	sweepFrom     map[money.Currency]*big.Int // none: not swept
	maxAttempts   int
}

const (
	defaultRange, minRange  = 500, 1
	maxConfirmations        = 10_000
	maxRangeSetting         = 100_000
	maxURLs                 = 5
	defaultAttempts         = 20
	maxSecretReferenceBytes = 500
)

// settingNames are the settings of a connection; another one is an error.
var settingNames = []string{"urls", "chain_id", "seed", "account", "usdc_contract", "usdt_contract", "confirmations", "max_fee_gwei",
	"min_priority_fee_gwei", "stuck_after", "sweep_from", "start_block", "log_range"}

// SeedReference returns the reference of the seed of a connection.
func SeedReference(c rail.Connection) (string, error) {
	reference := c.Settings["seed"]
	if !isReference(reference) {
		return "", errors.New("seed: must be a reference to the seed, such as file:/etc/causeway/seed or env:CHAIN_SEED")
	}
	return reference, nil
}

func isReference(text string) bool {
	return (strings.HasPrefix(text, "file:") || strings.HasPrefix(text, "env:")) && len(text) < maxSecretReferenceBytes
}

func parseSettings(ctx context.Context, c rail.Connection, secrets ports.Secrets) (s settings, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		if !slices.Contains(settingNames, name) {
			return s, fmt.Errorf("%s: no such setting; the settings are %s", name, strings.Join(settingNames, ", "))
		}
	}
	var known bool
	if len(c.Rails) == 1 {
		s.rail = c.Rails[0]
		s.chain, known = chains[s.rail]
	}
	if !known {
		return s, errors.New("rails: a connection to an Ethereum-like chain has exactly one of ETHEREUM, BASE and POLYGON")
	}
	s.name, s.maxAttempts = c.Name, defaultAttempts
	p := parser{values: c.Settings}
	s.chain.id = p.uint("chain_id", s.chain.id, 1, 1<<62)
	s.account = uint32(p.uint("account", 0, 0, uint64(ports.ChainHardened-1)))
	s.startBlock = p.uint("start_block", 0, 0, 1<<62)
	s.maxRange = p.uint("log_range", defaultRange, minRange, maxRangeSetting)
	s.chain.maxFee = p.gwei("max_fee_gwei", s.chain.maxFee)
	s.chain.minTip = p.gwei("min_priority_fee_gwei", s.chain.minTip)
	s.chain.stuckAfter = p.duration("stuck_after", s.chain.stuckAfter)
	s.finalized = c.Settings["confirmations"] == "finalized"
	if !s.finalized {
		s.confirmations = p.uint("confirmations", s.chain.confirmations, 1, maxConfirmations)
	}
	s.tokens = p.tokens(c.Currencies)
	s.sweepFrom = p.sweepFrom(s.chain.sweepFrom, c.Currencies)
	if s.chain.minTip.Cmp(s.chain.maxFee) > 0 {
		p.fail("min_priority_fee_gwei", "must not be above max_fee_gwei")
	}
	if p.err != nil {
		return s, p.err
	}
	s.urls, err = parseURLs(ctx, c.Settings["urls"], secrets)
	return s, err
}

// parser parses values, and keeps the first error.
type parser struct {
	values map[string]string
	err    error
}

func (p *parser) fail(name, message string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s: %s", name, message)
	}
}

func (p *parser) uint(name string, otherwise, lowest, highest uint64) uint64 {
	text := p.values[name]
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < lowest || n > highest {
		p.fail(name, fmt.Sprintf("must be a whole number from %d to %d", lowest, highest))
	}
	return n
}

func (p *parser) gwei(name string, otherwise *big.Int) *big.Int {
	if p.values[name] == "" {
		return otherwise
	}
	return gwei(int64(p.uint(name, 0, 1, 1_000_000)))
}

func (p *parser) duration(name string, otherwise time.Duration) time.Duration {
	text := p.values[name]
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > 24*time.Hour {
		p.fail(name, "must be a duration from 1s to 24h, such as 3m")
	}
	return d
}

// tokens returns the contract of each currency: no other one is ever read or called.
func (p *parser) tokens(currencies []money.Currency) map[money.Currency]ports.EVMAddress {
	tokens := map[money.Currency]ports.EVMAddress{}
	seen := map[ports.EVMAddress]bool{{}: true}
	for _, c := range currencies {
		if c != money.USDC && c != money.USDT {
			p.fail("currencies", "must be USDC and USDT, or one of them")
			continue
		}
		name := strings.ToLower(string(c)) + "_contract"
		contract, err := eth.ParseAddress(p.values[name])
		if err != nil {
			p.fail(name, err.Error())
		} else if seen[contract] {
			p.fail(name, "must be the address of a contract of its own")
		}
		seen[contract] = true
		tokens[c] = contract
	}
	if len(tokens) == 0 {
		p.fail("currencies", "must be USDC and USDT, or one of them")
	}
	return tokens
}

func (p *parser) sweepFrom(otherwise int64, currencies []money.Currency) map[money.Currency]*big.Int {
	if p.values["sweep_from"] == "never" {
		return nil
	}
	whole := int64(p.uint("sweep_from", uint64(otherwise), 1, 1_000_000_000))
	from := map[money.Currency]*big.Int{}
	for _, c := range currencies {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Decimals())), nil)
		from[c] = unit.Mul(unit, big.NewInt(whole))
	}
	return from
}

// parseURLs returns the URLs of nodes. One that contains a password is given as a reference to it.
func parseURLs(ctx context.Context, text string, secrets ports.Secrets) ([]string, error) {
	var urls []string
	for i, item := range strings.Split(text, ",") {
		item = strings.TrimSpace(item)
		if isReference(item) {
			secret, err := secrets.Secret(ctx, item)
			if err != nil {
				return nil, err
			}
			item = strings.TrimSpace(string(secret))
		}
		u, err := url.Parse(item)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return nil, fmt.Errorf("urls: the URL of node %d must begin with https:// or http://, or be a reference such as env:NODE_URL", i+1)
		}
		urls = append(urls, item)
	}
	if len(urls) > maxURLs {
		return nil, fmt.Errorf("urls: at most %d", maxURLs)
	}
	return urls, nil
}
