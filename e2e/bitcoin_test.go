package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"causeway/adapters/rails/bitcoin/devnet"
	"causeway/e2e/kit"
)

// bitcoinEnv is a production platform with a wallet on a Bitcoin chain of its own.
type bitcoinEnv struct {
	*chainEnv
	node            *devnet.Node
	hot, payer, own *devnet.Wallet // of the service, of those who pay and are paid
}

func newBitcoinEnv(t *testing.T) *bitcoinEnv {
	t.Helper()
	e := &bitcoinEnv{chainEnv: &chainEnv{testEnv: newDatabaseEnv(t)}, hot: devnet.NewWallet(t, "hot"), payer: devnet.NewWallet(t, "payer"),
		own: devnet.NewWallet(t, "own")}
	e.node = devnet.StartNode(t, e.payer.NewKey())
	e.hot.Node, e.payer.Node, e.own.Node = e.node, e.node, e.node
	e.payer.Pay(t, "10", map[string]int64{e.hot.Address(): 10_000_000})
	e.node.Mine(t, 3)
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	connection := file("bitcoin.json", `{"adapter": "BITCOIN", "rails": ["BITCOIN"], "currencies": ["BTC"], "settings": {"url": "`+
		e.hot.Serve(t, devnet.Open)+`",
		"wallet": "hot", "user": "causeway", "password": "file:`+file("rpc", "hunter2")+`", "network": "regtest", "depositXpub": "`+
		devnet.DepositXpub+`",
		"depositKey": "file:`+file("key", devnet.DepositXprv)+`"}}`)
	e.operator("rails", "set", "bitcoin", connection, "--note", "Hot wallet", "--actor", "ana")
	e.operator("rails", "test", "bitcoin")
	login, err := kit.CreateServiceLogin(waitContext(t), e.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	e.login = login
	e.server = startServerAs(t, e.login)
	e.tenant = e.createPlatform("Live", "PRODUCTION", "--regulated")
	e.customer = e.createCustomer()
	eventually(t, "the account has an address", func() bool {
		account := e.get("/customers/internal-accounts?currency=BTC&customerId=" + e.customer).wantStatus(200)
		e.account = account.text("data.0.id")
		e.address, _ = account.value("data.0.fundingPaymentInstructions.0.accountOrWalletInfo.address").(string)
		return e.address != ""
	})
	return e
}

func (e *bitcoinEnv) balance() int64 {
	return e.get("/customers/internal-accounts?currency=BTC&customerId=" + e.customer).wantStatus(200).int("data.0.balance.amount")
}

func TestBitcoin_MoneyComesInAndGoesOut(t *testing.T) {
	t.Parallel()
	// A deposit is credited when it has its confirmations, and a payout from there arrives. The service is killed while
	// each of them is on its way: everything moves once, and the ledger has what the wallet holds.
	e := newBitcoinEnv(t)
	e.payer.Pay(t, "10", map[string]int64{e.address: 2_500_000})
	e.node.Mine(t, 2)
	e.restart()
	eventually(t, "the funds of the wallet are received", func() bool { return e.queryInt(`SELECT count(*) FROM unmatched_funds`) == 1 })
	if got := e.balance(); got != 0 {
		t.Errorf("credited %d before the third confirmation", got)
	}
	e.node.Mine(t, 1)
	eventually(t, "the deposit is credited", func() bool { return e.balance() == 2_500_000 })

	refused := e.post("/customers/external-accounts",
		kit.AccountBody(e.customer, "BTC", object{"accountType": "BITCOIN_L1", "address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}))
	if refused.wantStatus(400); !strings.Contains(refused.text("message")+refused.text("details"), "regtest") {
		t.Errorf("an address of another network: %s", refused.text("message"))
	}
	to := e.post("/customers/external-accounts",
		kit.AccountBody(e.customer, "BTC", object{"accountType": "BITCOIN_L1", "address": e.own.Address()})).wantStatus(201).text("id")
	sent := e.post("/transfer-out", object{"source": object{"accountId": e.account}, "destination": object{"accountId": to},
		"amount": 1_000_000}).wantStatus(201)
	eventually(t, "the payout is signed", func() bool { return e.queryInt(`SELECT count(*) FROM bitcoin_transactions`) == 1 })
	e.restart()
	eventually(t, "the payout is sent", func() bool {
		var waiting []string
		e.node.Must(t, &waiting, "getrawmempool")
		return len(waiting) == 1
	})
	e.restart()
	e.node.Mine(t, 3)
	eventually(t, "the payout is done", func() bool {
		return e.get("/transactions/"+sent.text("id")).wantStatus(200).value("status") == "COMPLETED"
	})

	if err := e.own.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := e.own.Balance(); got != 1_000_000 || e.balance() != 1_500_000 {
		t.Errorf("the payee has %d, the customer %d", got, e.balance())
	}
	if n := e.queryInt(`SELECT count(*) FROM bitcoin_transactions`); n != 1 {
		t.Errorf("the wallet has signed %d transactions", n)
	}
	eventually(t, "the ledger has what the wallet holds", func() bool {
		out, _, status := runCommand(t, e.operatorEnv(), "rails", "prove")
		return status == 0 && strings.Contains(out, "bitcoin")
	})
}
