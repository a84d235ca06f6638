package lightning

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"causeway/core/lightning"
	"causeway/core/money"
	"causeway/core/rail"
)

// The settings of a connection.
const (
	settingNode        = "node"
	settingURL         = "url"
	settingPassword    = "password"
	settingMacaroon    = "macaroon"
	settingCertificate = "certificate"
	settingNetwork     = "network"
	settingMaxFeeRate  = "maxFeeRate"
	settingMaxFeeLeast = "maxFeeLeast"
	settingPayFor      = "payFor"
	settingRouteHints  = "routeHints"
)

// settings are those of a connection, checked.
type settings struct {
	url         string
	phoenixd    bool     // and not LND
	macaroon    string   // of LND: reference of a secret
	password    string   // of phoenixd: reference of a secret
	certificate [32]byte // SHA-256 of that of the node; zero for one of a public authority
	network     lightning.Network
	// The fee of a payment is at most maxFeeRate millionths of it, and never less than maxFeeLeast satoshis are allowed.
	maxFeeRate, maxFeeLeast int64
	// payFor is how long the node looks for routes.
	payFor     time.Duration
	routeHints bool
}

// networks are the networks by the names that settings have for them.
var networks = map[string]lightning.Network{"main": lightning.Main, "test": lightning.Test, "signet": lightning.Signet,
	"regtest": lightning.Regtest, "simnet": lightning.Simnet}

// nameOf returns the name that settings have for a network.
func nameOf(n lightning.Network) string {
	for name, network := range networks {
		if network == n {
			return name
		}
	}
	return string(n)
}

// isLocal reports whether a network is one of tests on one machine, where Lightning addresses may be on it too.
func isLocal(n lightning.Network) bool { return n == lightning.Regtest || n == lightning.Simnet }

// parseSettings returns the settings of a connection, or INVALID_INPUT with every one that is not valid.
func parseSettings(c rail.Connection) (settings, error) {
	r := rail.ReadSettings(c)
	s := settings{phoenixd: rail.ParseSetting(r, settingNode, r.Text(settingNode, nodeLND), parseNode)}
	if s.phoenixd {
		s.readPhoenixd(r)
	} else {
		s.readLND(r)
	}
	s.url = rail.ParseSetting(r, settingURL, r.Required(settingURL, "the URL of the REST interface of the node"),
		rail.NodeURL(map[bool]string{false: "https://127.0.0.1:8080", true: "http://127.0.0.1:9740"}[s.phoenixd]))
	s.certificate = rail.ParseSetting(r, settingCertificate, r.Text(settingCertificate, ""), parseFingerprint)
	s.network = rail.ParseSetting(r, settingNetwork, r.Required(settingNetwork, "main, test, signet, regtest or simnet"), parseNetwork)
	if !slices.Equal(c.Currencies, []money.Currency{money.BTC}) {
		r.RefuseField("currencies", "must be BTC alone")
	}
	return s, r.Err()
}

// The nodes that settings name.
const nodeLND, nodePhoenixd = "LND", "PHOENIXD"

func parseNode(value string) (isPhoenixd bool, err error) {
	if value != nodeLND && value != nodePhoenixd {
		return false, errors.New("must be LND or PHOENIXD")
	}
	return value == nodePhoenixd, nil
}

// readLND reads the settings that only LND has.
func (s *settings) readLND(r *rail.SettingReader) {
	s.macaroon = r.RequiredReference(settingMacaroon, "what the node lets the service do")
	s.maxFeeRate = r.Number(settingMaxFeeRate, 5_000, 0, 100_000)
	s.maxFeeLeast = r.Number(settingMaxFeeLeast, 10, 0, 100_000)
	s.payFor = r.Duration(settingPayFor, time.Minute, 5*time.Second, 10*time.Minute)
	s.routeHints = rail.ParseSetting(r, settingRouteHints, r.Text(settingRouteHints, "no"), parseYes)
}

// readPhoenixd reads the settings that only phoenixd has. It decides about fees and routes itself.
func (s *settings) readPhoenixd(r *rail.SettingReader) {
	s.password = r.RequiredReference(settingPassword, "the http-password of phoenix.conf")
	s.payFor = time.Minute
	for _, name := range []string{settingMacaroon, settingMaxFeeRate, settingMaxFeeLeast, settingPayFor, settingRouteHints} {
		if r.Text(name, "") != "" {
			r.Refuse(name, "is not possible with phoenixd, which decides it itself; leave it out")
		}
	}
}

func parseNetwork(value string) (lightning.Network, error) {
	if n, known := networks[value]; known {
		return n, nil
	}
	return "", errors.New("must be main, test, signet, regtest or simnet")
}

// parseFingerprint reads the SHA-256 of a certificate, as openssl writes it.
func parseFingerprint(value string) (hash [32]byte, err error) {
	bytes, err := hex.DecodeString(strings.ReplaceAll(value, ":", ""))
	if err != nil || len(bytes) != len(hash) {
		return hash, errors.New("must be the SHA-256 of the certificate of the node, in hexadecimal digits")
	}
	return [32]byte(bytes), nil
}

func parseYes(value string) (bool, error) {
	if value != "yes" && value != "no" {
		return false, errors.New("must be yes or no")
	}
	return value == "yes", nil
}

// maxFee returns the most that the fee of a payment may be, in satoshis.
func (s settings) maxFee(satoshis int64) int64 {
	return max(satoshis/1_000_000*s.maxFeeRate+satoshis%1_000_000*s.maxFeeRate/1_000_000, s.maxFeeLeast)
}
