package bitcoin

import (
	"time"

	"causeway/adapters/rails/bitcoin/btc"
	"causeway/core/rail"
)

// The settings of a connection.
const (
	settingURL             = "url"
	settingWallet          = "wallet"
	settingUser            = "user"
	settingPassword        = "password"
	settingCookie          = "cookie"
	settingPassphrase      = "passphrase"
	settingNetwork         = "network"
	settingDepositXpub     = "depositXpub"
	settingDepositKey      = "depositKey"
	settingConfirmations   = "confirmations"
	settingFeeTarget       = "feeTargetBlocks"
	settingMaxFeeRate      = "maxFeeRate"
	settingFallbackFeeRate = "fallbackFeeRate"
	settingMaxFee          = "maxFee"
	settingReplaceAfter    = "replaceAfter"
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

// parseSettings returns the settings of a connection, or INVALID_INPUT with every one that is not valid.
func parseSettings(c rail.Connection) (settings, error) {
	r := rail.ReadSettings(c)
	s := settings{
		wallet: r.Required(settingWallet, "the name of the wallet"), user: r.Text(settingUser, ""),
		password: r.Reference(settingPassword), cookie: r.Reference(settingCookie), passphrase: r.Reference(settingPassphrase),
		depositKey:    r.RequiredReference(settingDepositKey, "the private key of "+settingDepositXpub),
		confirmations: r.Number(settingConfirmations, 3, 1, 100), feeTarget: int(r.Number(settingFeeTarget, 6, 1, 1008)),
		replaceAfter: r.Duration(settingReplaceAfter, time.Hour, 10*time.Minute, 30*24*time.Hour),
	}
	s.url = rail.ParseSetting(r, settingURL, r.Required(settingURL, "the URL of the node"), rail.NodeURL("http://127.0.0.1:8332"))
	s.maxFeeRate = rail.ParseSetting(r, settingMaxFeeRate, r.Text(settingMaxFeeRate, "200"), btc.ParseFeeRate)
	s.fallbackFeeRate = rail.ParseSetting(r, settingFallbackFeeRate, r.Text(settingFallbackFeeRate, ""), btc.ParseFeeRate)
	s.maxFee = rail.ParseSetting(r, settingMaxFee, r.Text(settingMaxFee, "0.01"), btc.ParseAmount)
	s.network = rail.ParseSetting(r, settingNetwork, r.Required(settingNetwork, "main, test, signet or regtest"), btc.NetworkNamed)
	if xpub := r.Required(settingDepositXpub, "the public key of which deposit addresses are derived"); s.network.Name != "" {
		s.depositXpub = rail.ParseSetting(r, settingDepositXpub, xpub, s.network.ParseExtendedKey)
		if s.depositXpub.IsPrivate() {
			r.Refuse(settingDepositXpub, "must be the public key; the private one is a secret")
		}
	}
	if (s.user == "" || s.password == "") == (s.cookie == "") {
		r.Refuse(settingCookie, "must be given, or %s and %s, and not both", settingUser, settingPassword)
	}
	return s, r.Err()
}
