package chain_test

import (
	"crypto/sha256"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"causeway/adapters/rails/chain"
	"causeway/core/account"
	"causeway/core/money"
	"causeway/core/wallet"
	"causeway/ports"
)

// signedTransfer returns a transfer that the key of its wallet has signed.
func signedTransfer() ports.WalletTransfer {
	t := ports.WalletTransfer{Transfer: wallet.Transfer{Amount: money.Amount{Minor: 25_000_000, Currency: money.USDB}, Network: "LAYER2",
		Payload: `{"type":"PAYMENT"}`}}
	key := secp256k1.PrivKeyFromBytes([]byte{31: 1})
	digest := sha256.Sum256([]byte(t.Statement()))
	t.Certificate = wallet.Certificate{Statement: t.Statement(), Key: wallet.Key(key.PubKey().SerializeCompressed()),
		Signature: ecdsa.Sign(key, digest[:]).Serialize()}
	return t
}

func TestDebit_SettlesWhatTheWalletSigned(t *testing.T) {
	t.Parallel()
	// A transfer settles if the key of the wallet signed exactly this transfer, however often it is asked
	// for, and any other is refused.
	changed := map[string]func(*ports.WalletTransfer){
		"the amount":     func(t *ports.WalletTransfer) { t.Amount.Minor++ },
		"the currency":   func(t *ports.WalletTransfer) { t.Amount.Currency = money.USDC },
		"the network":    func(t *ports.WalletTransfer) { t.Network = "ETHEREUM" },
		"the payload":    func(t *ports.WalletTransfer) { t.Payload += " " },
		"the statement":  func(t *ports.WalletTransfer) { t.Certificate.Statement += " " },
		"the signature":  func(t *ports.WalletTransfer) { t.Certificate.Signature[10] ^= 1 },
		"the key":        func(t *ports.WalletTransfer) { t.Certificate.Key[0] ^= 1 },
		"nothing signed": func(t *ports.WalletTransfer) { t.Certificate = wallet.Certificate{} },
	}
	for name, change := range changed {
		good, bad := signedTransfer(), signedTransfer()
		change(&bad)

		for range 2 {
			outcomes := chain.Chain{}.Debit(t.Context(), []ports.WalletTransfer{good, bad})
			if len(outcomes) != 2 || outcomes[0].Verdict != ports.Done || outcomes[1].Verdict != ports.Refused || outcomes[1].Reason == "" {
				t.Errorf("%s changed: %+v", name, outcomes)
			}
		}
	}
}

func TestCredit_ChosenRefundsFail(t *testing.T) {
	t.Parallel()
	// The refunds that are to fail do, and nothing else. Without a choice none does.
	payment := func(address string) *ports.Payout {
		return &ports.Payout{Account: account.External{Type: account.Layer2Wallet, Fields: map[string]string{"address": address}}}
	}
	credits := []ports.WalletCredit{{Refunded: payment("spark1lost")}, {Refunded: payment("spark1found")}, {}}
	choice := chain.Chain{RefundFails: func(p ports.Payout) bool { return p.Account.Fields["address"] == "spark1lost" }}

	chosen, all := choice.Credit(t.Context(), credits), chain.Chain{}.Credit(t.Context(), credits)

	if chosen[0].Verdict != ports.Refused || chosen[1].Verdict != ports.Done || chosen[2].Verdict != ports.Done ||
		all[0].Verdict != ports.Done {
		t.Errorf("%+v, %+v", chosen, all)
	}
}

func TestCredit_SettlesAtOnce(t *testing.T) {
	t.Parallel()
	// Every transfer to a wallet settles.
	for _, outcome := range (chain.Chain{}).Credit(t.Context(), make([]ports.WalletCredit, 3)) {
		if outcome.Verdict != ports.Done {
			t.Errorf("%+v", outcome)
		}
	}
}
