package bitcoin

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/adapters/rails/bitcoin/btc"
)

// The settings of a connection.
const (
	settingURL           = "url"
	settingWallet        = "wallet"
	settingUser          = "user"
	settingPassword      = "password"
	settingCookie        = "cookie"
	settingPassphrase    = "passphrase"
	settingNetwork       = "network"
	settingDepositXpub   = "deposit_xpub"
	settingDepositKey    = "deposit_key"
	settingConfirmations = "confirmations"
	settingFeeTarget     = "fee_target_blocks"
	settingMaxFeeRate    = "max_fee_rate"
	settingMinFeeRate    = "fallback_fee_rate"
	settingMaxFee        = "max_fee"
	settingReplaceAfter  = "replace_after"
)

// settings are those of a connection, checked.
type settings struct {
	url, wallet                 string
	user, password, cookie      string // references of secrets, except user
	passphrase, depositKey      string // references of secrets; passphrase may be empty
	network                     btc.Network
	depositXpub                 btc.ExtendedKey
	confirmations               int64
	feeTarget                   int
	maxFeeRate, fallbackFeeRate btc.FeeRate // no fallback if zero
	maxFee                      int64
	replaceAfter                time.Duration
}

// parseSettings returns the settings, or what is wrong with the first that is not valid.
func parseSettings(given map[string]string) (settings, error) {
	s := settings{confirmations: 3, feeTarget: 6, maxFeeRate: 200_000, maxFee: 1_000_000, replaceAfter: time.Hour}
	for _, name := range []string{settingURL, settingWallet, settingNetwork, settingDepositXpub, settingDepositKey} {
		if given[name] == "" {
			return s, fmt.Errorf("the setting %s is required", name)
		}
	}
	network, err := btc.NetworkNamed(given[settingNetwork])
	if err != nil {
		return s, fmt.Errorf("the setting %s %w", settingNetwork, err)
	}
	s.network = network
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := s.set(name, given[name]); err != nil {
			return s, fmt.Errorf("the setting %s %w", name, err)
		}
	}
	if (s.user == "" || s.password == "") == (s.cookie == "") {
		return s, fmt.Errorf("set either %s and %s, or %s", settingUser, settingPassword, settingCookie)
	}
	return s, nil
}

func (s *settings) set(name, value string) (err error) {
	switch name {
	case settingNetwork:
	case settingURL:
		s.url, err = parseURL(value)
	case settingWallet:
		s.wallet = value
	case settingUser:
		s.user = value
	case settingPassword:
		s.password, err = reference(value)
	case settingCookie:
		s.cookie, err = reference(value)
	case settingPassphrase:
		s.passphrase, err = reference(value)
	case settingDepositKey:
		s.depositKey, err = reference(value)
	case settingDepositXpub:
		if s.depositXpub, err = s.network.ParseExtendedKey(value); err == nil && s.depositXpub.IsPrivate() {
			err = errors.New("must be the public key; the private one is a secret")
		}
	case settingConfirmations:
		s.confirmations, err = parseNumber(value, 1, 100)
	case settingFeeTarget:
		var blocks int64
		blocks, err = parseNumber(value, 1, 1008)
		s.feeTarget = int(blocks)
	case settingMaxFeeRate:
		s.maxFeeRate, err = btc.ParseFeeRate(value)
	case settingMinFeeRate:
		s.fallbackFeeRate, err = btc.ParseFeeRate(value)
	case settingMaxFee:
		s.maxFee, err = btc.ParseAmount(value)
	case settingReplaceAfter:
		if s.replaceAfter, err = time.ParseDuration(value); err != nil || s.replaceAfter < 10*time.Minute {
			err = errors.New("must be a duration of at least 10m, such as 1h")
		}
	default:
		err = errors.New("is not known")
	}
	return err
}

func parseNumber(value string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("must be a number from %d to %d", least, most)
	}
	return n, nil
}

// reference returns a reference to a secret.
func reference(value string) (string, error) {
	if !strings.HasPrefix(value, "file:") && !strings.HasPrefix(value, "env:") {
		return "", errors.New("must be a reference to the secret, file:/path or env:NAME, and never the secret itself")
	}
	return value, nil
}

// parseURL returns the URL of the node. Without TLS it has to be on this machine.
func parseURL(value string) (string, error) {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return "", errors.New("must be a URL such as http://127.0.0.1:8332, without user, password and path")
	}
	host := u.Hostname()
	address, err := netip.ParseAddr(host)
	isLocal := host == "localhost" || err == nil && address.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !isLocal) {
		return "", errors.New("must begin with https, or name a node on this machine")
	}
	if port := u.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host, nil
}
