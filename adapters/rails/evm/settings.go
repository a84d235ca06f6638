package evm

import (
	"context"
	"errors"
	"math"
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
	corridor.Ethereum: {1, account.EthereumWallet, "ETH", 32, 12 * time.Second, big.NewInt(50_000_000), gwei(200),
		3 * time.Minute, 50, new(big.Int)},
	corridor.Base:    {8453, account.BaseWallet, "ETH", 60, 2 * time.Second, big.NewInt(1_000_000), gwei(5), time.Minute, 1, gwei(20_000)},
	corridor.Plasma:  {9745, account.PlasmaWallet, "XPL", 60, time.Second, big.NewInt(1), gwei(50), time.Minute, 1, new(big.Int)},
	corridor.Polygon: {137, account.PolygonWallet, "POL", 100, 2 * time.Second, gwei(30), gwei(2000), time.Minute, 1, new(big.Int)},
}

// settings are those of a connection, checked.
type settings struct {
	name   string
	rail   corridor.Rail
	chain  chain
	urls   []string
	tokens map[money.Currency]eth.Address
	// confirmations, or the node's own word for it (finalized).
	confirmations uint64
	finalized     bool
	account       uint32
	startBlock    uint64
	maxRange      uint64
	sweepFrom     map[money.Currency]*big.Int // none: not swept
	// asset is the token of embedded wallets; empty if the connection is not theirs.
	asset       money.Currency
	maxAttempts int
}

// The settings of a connection.
const (
	// SettingSeed refers to the seed of the wallet.
	SettingSeed          = "seed"
	settingURLs          = "urls"
	settingChainID       = "chainId"
	settingAccount       = "account"
	settingContract      = "Contract" // after usdc or usdt
	settingConfirmations = "confirmations"
	settingMaxFee        = "maxFeeGwei"
	settingMinTip        = "minPriorityFeeGwei"
	settingStuckAfter    = "stuckAfter"
	settingSweepFrom     = "sweepFrom"
	settingStartBlock    = "startBlock"
	settingLogRange      = "logRange"
	settingAsset         = "usdbToken"
)

const (
	defaultRange     = 500
	minRange         = 1
	maxRangeSetting  = 100_000
	maxConfirmations = 10_000
	maxURLs          = 5
	defaultAttempts  = 20
	maxSweepFrom     = 1_000_000_000
	finalized        = "finalized" // the node's own word for a block that stays
	neverSwept       = "never"
)

// parseSettings returns the settings of a connection, or INVALID_INPUT with every one that is not valid.
func parseSettings(ctx context.Context, c rail.Connection, secrets ports.Secrets) (s settings, err error) {
	r := rail.ReadSettings(c)
	s = settings{name: c.Name, maxAttempts: defaultAttempts}
	var known bool
	if len(c.Rails) == 1 {
		s.rail = c.Rails[0]
		s.chain, known = chains[s.rail]
	}
	if !known {
		r.RefuseField("rails", "must be exactly one of ETHEREUM, BASE, POLYGON and PLASMA")
		s.chain = chains[corridor.Ethereum]
	}
	r.RequiredReference(SettingSeed, "the seed of the wallet")
	s.chain.id = uint64(r.Number(settingChainID, int64(s.chain.id), 1, math.MaxInt64))
	s.account = uint32(r.Number(settingAccount, 0, 0, int64(ports.ChainHardened-1)))
	s.startBlock = uint64(r.Number(settingStartBlock, 0, 0, math.MaxInt64))
	s.maxRange = uint64(r.Number(settingLogRange, defaultRange, 1, maxRangeSetting))
	s.chain.stuckAfter = r.Duration(settingStuckAfter, s.chain.stuckAfter, time.Second, 24*time.Hour)
	for name, fee := range map[string]**big.Int{settingMaxFee: &s.chain.maxFee, settingMinTip: &s.chain.minTip} {
		if given := rail.ParseSetting(r, name, r.Text(name, ""), parseGwei); given != nil {
			*fee = given
		}
	}
	if s.chain.minTip.Cmp(s.chain.maxFee) > 0 {
		r.Refuse(settingMinTip, "must not be above %s", settingMaxFee)
	}
	s.readConfirmations(r)
	s.readTokens(r, c.Currencies)
	s.readSweepFrom(r, c.Currencies)
	s.urls = readURLs(ctx, r, secrets)
	return s, r.Err()
}

// parseGwei returns wei. Gwei have nine decimals.
func parseGwei(text string) (*big.Int, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	wei, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", max(0, 9-len(fraction))), 10)
	if !ok || len(fraction) > 9 || whole == "" || strings.Trim(whole+fraction, "0123456789") != "" || wei.Sign() <= 0 ||
		wei.Cmp(gwei(1_000_000)) > 0 {
		return nil, errors.New("must be gwei above 0 and up to 1000000, with up to nine decimals, such as 0.05")
	}
	return wei, nil
}

func (s *settings) readConfirmations(r *rail.SettingReader) {
	text := r.Text(settingConfirmations, "")
	switch text {
	case finalized:
		s.finalized = true
		return
	case "":
		s.confirmations = s.chain.confirmations
		return
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < 1 || n > maxConfirmations {
		r.Refuse(settingConfirmations, "must be a whole number from 1 to %d, or %s", maxConfirmations, finalized)
	}
	s.confirmations = n
}

// readTokens reads the contract of each currency: no other one is ever read or called.
func (s *settings) readTokens(r *rail.SettingReader, currencies []money.Currency) {
	s.tokens = map[money.Currency]eth.Address{}
	seen := map[eth.Address]bool{{}: true}
	for _, c := range currencies {
		switch {
		case c == money.USDB && len(currencies) == 1:
			s.asset = readAsset(r, s.rail)
		case c != money.USDC && c != money.USDT:
			r.RefuseField("currencies", "must be USDC and USDT, or one of them, or USDB alone: embedded wallets have a connection of their own")
			continue
		}
		name := strings.ToLower(string(c)) + settingContract
		contract, err := eth.ParseAddress(r.Text(name, ""))
		switch {
		case err != nil:
			r.Refuse(name, "%v", err)
		case seen[contract]:
			r.Refuse(name, "must be the address of a contract of its own")
		}
		seen[contract] = true
		s.tokens[c] = contract
	}
}

// readAsset reads which token USDB is.
func readAsset(r *rail.SettingReader, on corridor.Rail) money.Currency {
	asset := money.Currency(r.Text(settingAsset, string(money.USDC)))
	if !slices.Contains(on.ChainCurrencies(), asset) {
		r.Refuse(settingAsset, "must be a stablecoin on %s, such as %s", on, money.USDC)
	}
	return asset
}

func (s *settings) readSweepFrom(r *rail.SettingReader, currencies []money.Currency) {
	text := r.Text(settingSweepFrom, strconv.FormatInt(s.chain.sweepFrom, 10))
	if text == neverSwept {
		return
	}
	whole, err := strconv.ParseInt(text, 10, 64)
	if err != nil || whole < 1 || whole > maxSweepFrom {
		r.Refuse(settingSweepFrom, "must be a whole number from 1 to %d, or %s", maxSweepFrom, neverSwept)
		return
	}
	s.sweepFrom = map[money.Currency]*big.Int{}
	for _, c := range currencies {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Decimals())), nil)
		s.sweepFrom[c] = unit.Mul(unit, big.NewInt(whole))
	}
}

// readURLs reads the URLs of nodes. One that contains a password is given as a reference to it.
func readURLs(ctx context.Context, r *rail.SettingReader, secrets ports.Secrets) []string {
	items := r.List(settingURLs, "")
	if len(items) == 0 || len(items) > maxURLs {
		r.Refuse(settingURLs, "must name 1 to %d nodes, separated by commas", maxURLs)
	}
	urls := make([]string, 0, len(items))
	for i, item := range items {
		isReference := rail.IsSecretReference(item)
		if isReference {
			secret, err := secrets.Secret(ctx, item)
			if err != nil {
				r.Refuse(settingURLs, "%v", err)
				continue
			}
			item = strings.TrimSpace(string(secret))
		}
		u, err := url.Parse(item)
		if err == nil && !isReference && holdsKey(u) {
			r.Refuse(settingURLs, "URL %d seems to hold a key: put the whole URL into a file and set file:/path, or into the environment and set "+
				"env:NAME", i+1)
			continue
		}
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			r.Refuse(settingURLs, "URL %d must begin with https:// or http://, or be a reference such as env:NODE_URL", i+1)
			continue
		}
		urls = append(urls, item)
	}
	return urls
}

// minKey is the least length of what is taken for a key in a URL.
const minKey = 16

// holdsKey reports whether a URL has a password, a query, or a part of its path that is long and has digits: providers of
// nodes give each customer a URL with a key.
func holdsKey(u *url.URL) bool {
	return u.User != nil || u.RawQuery != "" || slices.ContainsFunc(strings.Split(u.Path, "/"), func(part string) bool {
		return len(part) >= minKey && strings.ContainsAny(part, "0123456789")
	})
}
