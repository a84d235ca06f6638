package account_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	base58check "github.com/btcsuite/btcd/btcutil/base58"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/google/uuid"
	"github.com/mr-tron/base58"
	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/bitcoin"
	"causeway/core/ethereum"
	"causeway/core/fault"
	"causeway/core/money"
)

// newWallet returns a wallet that its owner has registered with an address.
func newWallet(t interface{ Fatal(...any) }, kind account.Type, currency, address string) account.External {
	a, err := account.Validate(account.CreateRequest{ID: externalID, Platform: platformID, Customer: customerID, Currency: currency, Now: now,
		Ownership: account.FirstParty, AcceptsTestValue: func(string) bool { return true },
		Info: map[string]any{"accountType": string(kind), "address": address}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// challenged returns a wallet with a message to sign.
func challenged(t interface{ Fatal(...any) }, a account.External) account.External {
	c, err := a.NewSignatureChallenge(uuid.Max, "Acme", "00ff", now)
	if err != nil {
		t.Fatal(err)
	}
	a.Challenge = &c
	return a
}

func TestValidate_StatusOfWallets(t *testing.T) {
	t.Parallel()
	// Only a wallet whose owner holds the keys waits for a proof; one that is registered as ever is ACTIVE.
	const address = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"
	beneficiary := map[string]any{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng", "countryOfResidence": "DE"}
	for name, c := range map[string]struct {
		ownership account.OwnershipType
		info      map[string]any
		want      account.Status
		bad       string
	}{
		"as ever":                  {"", map[string]any{}, account.Active, ""},
		"of the owner":             {account.FirstParty, map[string]any{}, account.PendingOwnershipVerification, ""},
		"held by a custodian":      {account.FirstParty, map[string]any{"vaspName": "Kraken"}, account.Active, ""},
		"held by somebody unknown": {account.FirstParty, map[string]any{"vaspName": "kraken"}, "", "accountInfo.vaspName"},
		"of somebody else":         {account.ThirdParty, map[string]any{"beneficiary": beneficiary}, account.Active, ""},
		"of nobody":                {account.ThirdParty, map[string]any{}, "", "accountInfo.beneficiary"},
		"of somebody without a country": {account.ThirdParty, map[string]any{"beneficiary": map[string]any{"beneficiaryType": "INDIVIDUAL",
			"fullName": "Ana Ng"}}, "", "accountInfo.beneficiary.countryOfResidence"},
		"of an owner that does not exist": {"SECOND_PARTY", map[string]any{}, "", "ownershipType"},
	} {
		c.info["accountType"], c.info["address"] = "ETHEREUM_WALLET", address
		r := account.CreateRequest{ID: externalID, Platform: platformID, Customer: customerID, Currency: "USDC", Now: now, Info: c.info,
			Ownership: c.ownership, NamesBeneficiaries: true, KnowsVASP: func(name string) bool { return name == "Kraken" }}
		a, err := account.Validate(r)
		if a.Status != c.want || (err != nil) != (c.bad != "") {
			t.Errorf("%s: %s, %v", name, a.Status, err)
		}
		if paths := invalidPaths(t, r); c.bad != "" && strings.Join(paths, ",") != c.bad {
			t.Errorf("%s: %v", name, paths)
		}
	}
}

func TestValidate_OwnershipIsForWallets(t *testing.T) {
	t.Parallel()
	// A bank account has no type of ownership.
	r := newRequest("US_ACCOUNT", "USD", map[string]any{"accountNumber": "123456789", "routingNumber": "021000021"})
	r.Ownership = account.FirstParty
	if paths := invalidPaths(t, r); len(paths) != 1 || paths[0] != "ownershipType" {
		t.Errorf("%v", paths)
	}
}

func TestExternal_ChallengeSaysWhatIsSigned(t *testing.T) {
	t.Parallel()
	// A person who is shown the message sees who asks, for what, and until when.
	a := challenged(t, newWallet(t, account.EthereumWallet, "USDC", "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"))
	for _, part := range []string{"Acme asks you", externalID.String(), "ETHEREUM_WALLET 0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B",
		"Nonce: 00ff", "Expires: 2026-03-01T12:30:00.000Z"} {
		if !strings.Contains(a.Challenge.Message, part) {
			t.Errorf("no %q in %q", part, a.Challenge.Message)
		}
	}
}

func TestExternal_WalletsThatCannotSign(t *testing.T) {
	t.Parallel()
	// Where no signature can be checked, the answer says how to prove the wallet otherwise.
	for _, c := range []struct {
		kind              account.Type
		currency, address string
	}{
		{account.BitcoinAddress, "BTC", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"}, // Taproot
		{account.BitcoinAddress, "BTC", "bc1qwqdg6squsna38e46795at95yu9atm8azzmyvckulcc7kytlcckxswvvzej"}, // a script
		{account.TronWallet, "USDT", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"},                                //
		{account.AltchainWallet, "USDC", "not-solana"},                                                    //
		{account.Layer2Wallet, "BTC", "layer2wallet1qw508d6qejxtdg4y5r3zarvary0c5xw7k"},                   //
		{account.EthereumWallet, "USDC", "0xtest002"},                                                     // a test value
	} {
		a := newWallet(t, c.kind, c.currency, c.address)
		if _, err := a.NewSignatureChallenge(uuid.Max, "Acme", "00", now); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", c.address, err)
		}
	}
}

// signer signs messages for the address that it has.
type signer struct {
	kind     account.Type
	currency string
	address  string
	scheme   bitcoin.MessageScheme
	sign     func(message string) string
}

// signers returns one of every kind with keys of a seed.
func signers(seed []byte) map[string]signer {
	key := secp256k1.PrivKeyFromBytes(seed)
	public := key.PubKey().SerializeCompressed()
	address, _ := ethereum.AddressOf([33]byte(public))
	hash := bitcoin.Hash160(public)
	nested := bitcoin.Hash160(append([]byte{0, 20}, hash...))
	segwit, _ := bitcoin.WitnessAddress("bc", hash)
	all := map[string]signer{
		"EVM": {account.EthereumWallet, "USDC", ethereum.FormatAddress(address), "", func(message string) string {
			return ethereum.SignMessage(key, message)
		}},
	}
	for name, c := range map[string]struct {
		address string
		scheme  bitcoin.MessageScheme
		header  byte
	}{
		"P2PKH":           {base58check.CheckEncode(hash, 0), bitcoin.BIP137, 0},
		"P2SH-P2WPKH":     {base58check.CheckEncode(nested, 5), bitcoin.BIP137, 4},
		"P2WPKH":          {segwit, bitcoin.BIP137, 8},
		"Electrum P2WPKH": {segwit, bitcoin.Electrum, 0},
		"Electrum P2SH":   {base58check.CheckEncode(nested, 5), bitcoin.Electrum, 0},
	} {
		all[name] = signer{account.BitcoinAddress, "BTC", c.address, c.scheme, func(message string) string {
			compact := ecdsa.SignCompact(key, bitcoinHash(message), true)
			compact[0] += c.header
			return base64.StdEncoding.EncodeToString(compact)
		}}
	}
	solana := ed25519.NewKeyFromSeed(seed)
	all["Solana"] = signer{account.AltchainWallet, "USDC", base58.Encode(solana[32:]), "", func(message string) string {
		return base58.Encode(ed25519.Sign(solana, []byte(message)))
	}}
	return all
}

func TestExternal_VerifyAnySigner(t *testing.T) {
	t.Parallel()
	// Who has the key proves the wallet; with another key, another message or a changed signature nobody does.
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.Byte(), 32, 32).Filter(func(b []byte) bool { return b[0] > 0 && b[0] < 0xff }).Draw(t, "seed")
		other := append([]byte{seed[0] ^ 1}, seed[1:]...)
		if other[0] == 0 || other[0] == 0xff {
			other[0] = 7
		}
		bit := rapid.IntRange(0, 63*8).Draw(t, "bit")
		for name, s := range signers(seed) {
			a := challenged(t, newWallet(t, s.kind, s.currency, s.address))
			answer := func(signature string) (account.External, error) {
				return a.Verify(account.Signed{Signature: signature, Scheme: s.scheme}, now.Add(time.Minute))
			}

			proven, err := answer(s.sign(a.Challenge.Message))
			if err != nil || proven.Status != account.Active || proven.Proof == nil || proven.Challenge != nil {
				t.Fatalf("%s: %s, %v", name, proven.Status, err)
			}
			for _, wrong := range []string{signers(other)[name].sign(a.Challenge.Message), s.sign(a.Challenge.Message + " "),
				flipped(s.sign(a.Challenge.Message), bit), "", "0x", s.address} {
				if refused, err := answer(wrong); !fault.Is(err, fault.InvalidInput) || refused.Status != account.Unverified || refused.Proof != nil {
					t.Fatalf("%s with %q: %s, %v", name, wrong, refused.Status, err)
				}
			}
		}
	})
}

// flipped returns a signature with one bit of its r or s changed.
func flipped(signature string, bit int) string {
	change := func(raw []byte, from int) []byte {
		raw[from+bit/8] ^= 1 << (bit % 8)
		return raw
	}
	if digits, ok := strings.CutPrefix(signature, "0x"); ok {
		raw, _ := hex.DecodeString(digits)
		return "0x" + hex.EncodeToString(change(raw, 0))
	}
	if raw, err := base64.StdEncoding.DecodeString(signature); err == nil && len(raw) == 65 {
		return base64.StdEncoding.EncodeToString(change(raw, 1))
	}
	raw, _ := base58.Decode(signature)
	return base58.Encode(change(raw, 0))
}

func TestExternal_VerifyInAnyOrder(t *testing.T) {
	t.Parallel()
	// A proof is taken once, in time, for the last message; whatever comes before, only a valid answer makes the wallet ACTIVE.
	wallet := newWallet(t, account.EthereumWallet, "USDC", signers(make32(1))["EVM"].address)
	sign := signers(make32(1))["EVM"].sign

	if _, err := wallet.Verify(account.Signed{Signature: "0x"}, now); !fault.Is(err, fault.Conflict) {
		t.Errorf("without a challenge: %v", err)
	}
	first := challenged(t, wallet)
	second := first
	c, _ := wallet.NewSignatureChallenge(uuid.Max, "Acme", "another nonce", now)
	second.Challenge = &c
	if a, err := second.Verify(account.Signed{Signature: sign(first.Challenge.Message)}, now); err == nil || a.Status != account.Unverified {
		t.Errorf("a void message: %s, %v", a.Status, err)
	}
	late, err := first.Verify(account.Signed{Signature: sign(first.Challenge.Message)}, first.Challenge.ExpiresAt)
	if !fault.Is(err, fault.InvalidInput) || late.Status != account.Unverified || late.Challenge != nil {
		t.Errorf("late: %s, %v", late.Status, err)
	}
	tested, err := first.Verify(account.Signed{Signature: "x", IsTestValue: true}, now)
	if err != nil || tested.Status != account.Active {
		t.Errorf("a test value: %s, %v", tested.Status, err)
	}
	if _, err := tested.Verify(account.Signed{Signature: "x", IsTestValue: true}, now); !fault.Is(err, fault.Conflict) {
		t.Errorf("twice: %v", err)
	}
}

func TestExternal_LivenessDecided(t *testing.T) {
	t.Parallel()
	// A decision counts if its challenge is still that of the account.
	wallet := newWallet(t, account.TronWallet, "USDT", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t")
	wallet.Challenge = &account.Challenge{ID: uuid.Max, Method: account.Liveness, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}

	passed, failed := wallet.LivenessDecided(uuid.Max, true, now), wallet.LivenessDecided(uuid.Max, false, now)
	if passed.Status != account.Active || passed.Proof.Method != account.Liveness || failed.Status != account.Unverified ||
		failed.Proof != nil {
		t.Errorf("%+v, %+v", passed, failed)
	}
	if other := wallet.LivenessDecided(uuid.Nil, true, now); other.Status != wallet.Status {
		t.Errorf("another challenge: %s", other.Status)
	}
	if again := failed.LivenessDecided(uuid.Max, true, now); again.Status != account.Unverified {
		t.Errorf("after a failure: %s", again.Status)
	}
}

// bitcoinHash returns what is signed of a message of 253 bytes and more.
func bitcoinHash(message string) []byte {
	length := len(message)
	first := sha256.Sum256([]byte("\x18Bitcoin Signed Message:\n\xfd" + string([]byte{byte(length), byte(length >> 8)}) + message))
	second := sha256.Sum256(first[:])
	return second[:]
}

func make32(first byte) []byte {
	b := make([]byte, 32)
	b[0] = first
	return b
}

func TestOwnershipLimits(t *testing.T) {
	t.Parallel()
	// Up to the limit of the region a wallet without a proof is paid; an ACTIVE one is paid any amount.
	limits, err := account.ParseOwnershipLimits([]string{"EEA=1000 EUR", "FR=0 EUR", "JP=100000 JPY"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		region string
		status account.Status
		worth  money.Amount
		ok     bool
	}{
		{"DE", account.PendingOwnershipVerification, money.Amount{Minor: 100_000, Currency: "EUR"}, true},
		{"DE", account.PendingOwnershipVerification, money.Amount{Minor: 100_001, Currency: "EUR"}, false},
		{"DE", account.Unverified, money.Amount{Minor: 100_001, Currency: "EUR"}, false},
		{"DE", account.Active, money.Amount{Minor: 100_001, Currency: "EUR"}, true},
		{"DE", account.Unverified, money.Amount{}, false}, // never compared
		{"DE", account.Unverified, money.Amount{Minor: 1, Currency: "USD"}, false},
		{"FR", account.Unverified, money.Amount{Minor: 1, Currency: "EUR"}, false},
		{"JP", account.Unverified, money.Amount{Minor: 100_000, Currency: "JPY"}, true},
		{"US", account.Unverified, money.Amount{}, true},
		{"", account.Unverified, money.Amount{}, true},
	} {
		err := limits.Check(c.status, c.region, c.worth)
		if (err == nil) != c.ok || err != nil && !fault.Is(err, fault.ExternalAccountVerificationRequired) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := account.OwnershipLimits(nil).Check(account.Unverified, "US", money.Amount{}); err == nil {
		t.Error("nil limits allow a payment")
	}
}

func TestOwnershipLimits_Worth(t *testing.T) {
	t.Parallel()
	// An amount is converted for wallets without a proof alone; one that is too large to convert is above every limit.
	limits, _ := account.ParseOwnershipLimits([]string{"*=1000 EUR"})
	double := func(a money.Amount, to money.Currency) (money.Amount, error) {
		return money.Amount{Minor: 2 * a.Minor, Currency: to}, nil
	}
	waiting, active := account.External{Status: account.Unverified}, account.External{Status: account.Active}
	paid := money.Amount{Minor: 50, Currency: "USDC"}

	if worth, err := limits.Worth(waiting, "US", paid, double); err != nil || worth != (money.Amount{Minor: 100, Currency: "EUR"}) {
		t.Errorf("%v, %v", worth, err)
	}
	if worth, err := limits.Worth(active, "US", paid, nil); err != nil || worth != (money.Amount{}) {
		t.Errorf("ACTIVE: %v, %v", worth, err)
	}
	overflow := func(money.Amount, money.Currency) (money.Amount, error) { return money.Amount{}, money.ErrOverflow }
	if worth, err := limits.Worth(waiting, "US", paid, overflow); err != nil || limits.Check(account.Unverified, "US", worth) == nil {
		t.Errorf("overflow: %v, %v", worth, err)
	}
	failure := errors.New("no rate")
	if _, err := limits.Worth(waiting, "US", paid, func(money.Amount, money.Currency) (money.Amount, error) {
		return money.Amount{}, failure
	}); !errors.Is(err, failure) {
		t.Errorf("without a rate: %v", err)
	}
}

func TestParseOwnershipLimits(t *testing.T) {
	t.Parallel()
	// What cannot be meant is an error at the start, not a payment that is wrongly allowed.
	for _, list := range [][]string{{""}, {"EEA"}, {"EEA=1000"}, {"EEA=EUR 1000"}, {"XX=1 EUR"}, {"DE=-1 EUR"}, {"DE=1.5 EUR"}, {"DE=1 XXX"},
		{"DE=1 EUR", "DE=2 EUR"}, {"EEA=1 EUR", "EEA=2 EUR"}, {"DE=9999999999999999 EUR"}, {"none", "DE=1 EUR"}} {
		if limits, err := account.ParseOwnershipLimits(list); err == nil {
			t.Errorf("%q: %v", list, limits)
		}
	}
	if limits, err := account.ParseOwnershipLimits([]string{"none"}); err != nil || limits == nil || limits.Apply("DE") {
		t.Errorf("%v, %v", limits, err)
	}
}
