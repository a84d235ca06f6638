package evm_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tyler-smith/go-bip39"

	"causeway/adapters/rails/evm/devnet"
	"causeway/adapters/rails/evm/eth"
	"causeway/adapters/rails/evm/localkeys"
	"causeway/core/ethereum"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
	"causeway/ports/portstest"
)

// usesUp are what the owner of an embedded wallet can do with the nonce of a payment after an export: it is used then, and the payment
// was not made by the service.
var usesUp = map[string]func(o *owner, pays ports.WalletTransfer){
	"cancelled": func(o *owner, pays ports.WalletTransfer) {
		nonce := o.nonceOf(pays)
		kind := eth.Keccak256([]byte("CancelAuthorization(address authorizer,bytes32 nonce)"))
		o.asOwner(o.usdc.Address, o.signedCall("cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)", kind,
			devnet.AddressWord(o.address), nonce))
	},
	"for itself": func(o *owner, pays ports.WalletTransfer) {
		o.asOwner(o.usdc.Address, o.signedCall("receiveWithAuthorization("+authorizationTypes+")", ethereum.ReceiveType,
			o.authorizes(pays, o.address, 1)...))
	},
	"to the service": func(o *owner, pays ports.WalletTransfer) { // the tokens are there, and a report says whose transaction it was
		kind := eth.Keccak256([]byte("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore," +
			"bytes32 nonce)"))
		o.asOwner(o.usdc.Address, o.signedCall("transferWithAuthorization("+authorizationTypes+")", kind,
			o.authorizes(pays, o.env.wallet(), pays.Amount.Minor)...))
	},
}

const authorizationTypes = "address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32"

func (o *owner) nonceOf(pays ports.WalletTransfer) []byte {
	o.t.Helper()
	transfer, err := wallet.ParseChainTransfer(pays.Payload)
	if err != nil {
		o.t.Fatal(err)
	}
	return transfer.Nonce[:]
}

// authorizes returns the words of an authorisation with the nonce of a payment.
func (o *owner) authorizes(pays ports.WalletTransfer, to string, amount int64) [][]byte {
	return [][]byte{devnet.AddressWord(o.address), devnet.AddressWord(to), devnet.Word(amount), devnet.Word(0),
		devnet.Word(o.now() + 36_000), o.nonceOf(pays)}
}

// signedCall returns the data of a call whose words the exported key of the wallet has signed (EIP-712).
func (o *owner) signedCall(function string, kind eth.Hash, words ...[]byte) []byte {
	o.t.Helper()
	entropy, _, err := o.keys.WalletEntropy(o.t.Context(), o.id)
	if err != nil {
		o.t.Fatal(err)
	}
	words24, err := bip39.NewMnemonic(entropy)
	if err != nil {
		o.t.Fatal(err)
	}
	contract, err := eth.ParseAddress(o.usdc.Address)
	if err != nil {
		o.t.Fatal(err)
	}
	separator := ethereum.Domain{Name: "USD Coin", Version: "2", ChainID: 31337, Contract: contract}.Separator()
	message := eth.Keccak256(append([][]byte{kind[:]}, words...)...)
	keys := localkeys.New(portstest.Secrets{"s": hex.EncodeToString(bip39.NewSeed(words24, ""))}, "s")
	signature, err := keys.SignDigest(o.t.Context(),
		[]uint32{44 | ports.ChainHardened, 60 | ports.ChainHardened, ports.ChainHardened, 0, 0},
		eth.Keccak256([]byte{0x19, 0x01}, separator[:], message[:]))
	if err != nil {
		o.t.Fatal(err)
	}
	data := devnet.Selector(function)
	for _, word := range append(words, devnet.Word(27+int64(signature.Recovery)), signature.R[:], signature.S[:]) {
		data = append(data, word...)
	}
	return data
}

// isUsed reports whether the contract says that the nonce of a payment is used.
func (o *owner) isUsed(pays ports.WalletTransfer) bool {
	return o.chain.Number("eth_call", map[string]any{"to": o.usdc.Address, "data": "0x" + hexOf(devnet.Selector(
		"authorizationState(address,bytes32)"), devnet.AddressWord(o.address), o.nonceOf(pays))}, "latest").Sign() != 0
}

// wantRevoked checks that a payment whose nonce its owner has used is refused, and reported once with its transaction.
func (o *owner) wantRevoked(r *recorded, pays ports.WalletTransfer) {
	o.t.Helper()
	for range 2 {
		if got := o.debit(r, pays); got.Verdict != ports.Refused || got.Code != "AUTHORIZATION_USED" {
			o.t.Errorf("%+v", got)
		}
	}
	keys := map[string]bool{}
	for _, c := range o.poll(r).Contradictions {
		if strings.Contains(c.Problem, pays.Transaction.String()) {
			keys[c.Key()] = true
			if c.Platform != o.platform || c.Reported.Amount != pays.Amount || !strings.Contains(c.Problem, o.account.ID.String()) {
				o.t.Errorf("%+v", c)
			}
		}
	}
	if len(keys) != 1 {
		o.t.Errorf("%d reports of the payment", len(keys))
	}
}

func TestWallets_UsedNonceIsNoTransfer(t *testing.T) {
	t.Parallel()
	// The owner uses the nonce of a payment up with the exported key, before the service sends the payment, or while it is on its way: its
	// transaction fails then. The payment is refused once that is final, and not done.
	for name, useUp := range usesUp {
		for _, sent := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", sent ", sent), func(t *testing.T) {
				t.Parallel()
				e := newWalletEnv(t)
				r, o := e.holding(100)
				pays := o.pays(r, 60, 3600)
				if sent {
					e.signAndDropAtOnce(r, pays)
				}
				useUp(o, pays)
				e.chain.Mine(1)
				if !o.isUsed(pays) {
					t.Fatal("the nonce is not used")
				}
				if got := e.debit(r, pays); got.Verdict != ports.Waiting && got.Verdict != ports.Unknown {
					t.Errorf("before that is final: %+v", got)
				}
				e.mine(r, 4)
				e.chain.Mine(4)

				o.wantRevoked(r, pays)

				if name != "to the service" {
					e.wantBalances(100, 0, o)
				}
			})
		}
	}
}

// signAndDropAtOnce calls about a payment, whose transaction the node forgets until it is sent again.
func (e *walletEnv) signAndDropAtOnce(r *recorded, pays ports.WalletTransfer) {
	e.t.Helper()
	if got := e.debit(r, pays); !got.Accepted {
		e.t.Fatalf("%+v", got)
	}
	e.chain.Call("hardhat_dropTransaction", eth.FormatHash(e.transactions("WALLET_DEBIT", pays)[0].Attempts[0].Hash))
}

func TestWallets_ForgottenTransactionIsFoundByItsEvent(t *testing.T) {
	t.Parallel()
	// The database knows nothing of the transaction that has made a payment: the event of the contract leads to it. Blocks are read in ranges
	// that a node takes.
	e := newWalletEnv(t)
	e.extra["logRange"] = "2"
	r, o := e.holding(100)
	pays := o.pays(r, 60, 3600)
	e.debit(r, pays)
	e.mineEach(9)
	e.openDatabase() // an earlier one, restored

	got := e.debit(e.rail(), pays)

	if got.Verdict != ports.Done || got.TransactionHash == "" {
		t.Errorf("%+v", got)
	}
	e.wantBalances(40, 60, o)
}

// mineEach adds blocks one by one: the node of tests calls no contract at one of several that were added together.
func (e *walletEnv) mineEach(blocks int) {
	e.t.Helper()
	for range blocks {
		e.chain.Mine(1)
	}
}

func TestWallets_UseIsBelievedIfTheNodesAgree(t *testing.T) {
	t.Parallel()
	// One node has no event, another transaction, or another receipt than the other one. Then the payment is neither done nor refused.
	for _, made := range []bool{false, true} {
		t.Run(fmt.Sprint("made ", made), func(t *testing.T) {
			t.Parallel()
			e := newWalletEnv(t)
			fakes, urls := e.fakeNodes(2)
			r := e.openAt(e.db.Pool(), urls)
			o := e.newOwner(r)
			o.deposit(r, 100)
			pays := o.pays(r, 60, 3600)
			if made {
				e.debit(r, pays)
				e.mineEach(9)
				e.openDatabase()
				r = e.openAt(e.db.Pool(), urls)
			} else {
				usesUp["cancelled"](o, pays)
				e.mineEach(9)
			}
			change := func(c rpcCall, with func(map[string]any)) (any, bool) {
				receipt, _ := e.chain.Call(c.Method, c.param(0)).(map[string]any)
				with(receipt)
				return receipt, true
			}
			receipts := func(with func(map[string]any)) func(rpcCall) (any, bool) {
				return func(c rpcCall) (any, bool) {
					if c.Method != "eth_getTransactionReceipt" {
						return nil, false
					}
					return change(c, with)
				}
			}
			lies := map[string]func(rpcCall) (any, bool){
				"no event": func(c rpcCall) (any, bool) { return []any{}, c.Method == "eth_getLogs" },
				"another sender": receipts(func(receipt map[string]any) {
					receipt["from"] = map[bool]string{true: o.address, false: e.env.wallet()}[made]
				}),
				"no transfer": receipts(func(receipt map[string]any) {
					logs, _ := receipt["logs"].([]any)
					receipt["logs"] = logs[:1]
					if !made {
						receipt["logs"] = []any{}
					}
				}),
				"no transaction": func(c rpcCall) (any, bool) { return nil, c.Method == "eth_getTransactionReceipt" },
			}
			for name, lie := range lies {
				for i, f := range fakes {
					f.set(lie)
					if name == "no event" && i > 0 { // it is not asked
						continue
					}
					if got := e.debit(r, pays); got.Verdict != ports.Unknown && got.Verdict != ports.Waiting {
						t.Errorf("%s of node %d: %+v", name, i+1, got)
					}
					f.set(nil)
				}
			}
			want := map[bool]ports.Verdict{true: ports.Done, false: ports.Refused}[made]
			if got := e.debit(r, pays); got.Verdict != want {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestWallets_LateUseOfTheNonce(t *testing.T) {
	t.Parallel()
	// The owner cancels after the end of the time of a payment that was never sent, and only then the service asks. No transfer of the
	// amount has left the wallet, so the payment is refused once the blocks are read.
	e := newWalletEnv(t)
	r, o := e.holding(100)
	pays := o.pays(r, 60, 600)
	e.chain.Call("evm_increaseTime", 700)
	e.chain.Mine(2)
	usesUp["cancelled"](o, pays)
	e.chain.Mine(4)
	if got := e.debit(r, pays); got.Verdict != ports.Waiting {
		t.Errorf("before the blocks are read: %+v", got)
	}
	e.poll(r)

	if got := e.debit(r, pays); got.Verdict != ports.Refused || got.Code != "AUTHORIZATION_EXPIRED" {
		t.Errorf("%+v", got)
	}
	e.wantBalances(100, 0, o)
}

// isSearch reports whether a call is for the use of a nonce.
func isSearch(c rpcCall) bool {
	return c.Method == "eth_getLogs" && strings.Contains(string(c.Params[0]), eth.FormatHash(eth.UsedTopic))
}

func TestWallets_SearchesForUsesKeepNoPaymentFromBeingSent(t *testing.T) {
	t.Parallel()
	// The owner of a wallet has cancelled payments, and the node does not answer where. The payment of another wallet in the same job is sent,
	// and the job has time left to record that. The others are asked about again.
	e := newWalletEnv(t)
	fakes, url := e.fakeNodes(1)
	r := e.openAt(e.db.Pool(), url)
	o, other := e.newOwner(r), e.newOwner(r)
	o.deposit(r, 100)
	other.deposit(r, 100)
	cancelled := []ports.WalletTransfer{o.pays(r, 10, 3600), o.pays(r, 20, 3600)}
	for _, pays := range cancelled {
		usesUp["cancelled"](o, pays)
		e.chain.Mine(1)
	}
	e.mine(r, 4)
	answered := make(chan struct{})
	t.Cleanup(func() { close(answered) })
	fakes[0].set(func(c rpcCall) (any, bool) {
		if isSearch(c) {
			<-answered
		}
		return nil, false
	})
	job, end := context.WithTimeout(t.Context(), 6*time.Second)
	defer end()

	got := r.Debit(job, append(cancelled, other.pays(r, 60, 3600)))

	if job.Err() != nil || got[0].Verdict != ports.Unknown || got[1].Verdict != ports.Unknown || got[2].Verdict != ports.Waiting ||
		!got[2].Accepted {
		t.Errorf("%v, %+v", job.Err(), got)
	}
	fakes[0].set(nil)
	for _, pays := range cancelled {
		if got := e.debit(r, pays); got.Verdict != ports.Refused || got.Code != "AUTHORIZATION_USED" {
			t.Errorf("%+v", got)
		}
	}
}

func TestWallets_LongSearchEndsOverSeveralAttempts(t *testing.T) {
	t.Parallel()
	// A payment was cancelled long ago, and the node answers slowly and for few blocks. The job ends before the search, and the next one goes
	// on where it was.
	e := newWalletEnv(t)
	e.extra["logRange"] = "2"
	fakes, url := e.fakeNodes(1)
	r := e.openAt(e.db.Pool(), url)
	o := e.newOwner(r)
	o.deposit(r, 100)
	pays := o.pays(r, 60, 3600)
	e.mineEach(20)
	usesUp["cancelled"](o, pays)
	e.mineEach(20)
	fakes[0].set(func(c rpcCall) (any, bool) {
		if isSearch(c) {
			time.Sleep(100 * time.Millisecond)
		}
		return nil, false
	})
	jobs := 0
	var got ports.Outcome
	for got.Verdict != ports.Refused && jobs < 100 {
		job, end := context.WithTimeout(t.Context(), time.Second)
		got = r.Debit(job, []ports.WalletTransfer{pays})[0]
		end()
		jobs++
	}
	if got.Code != "AUTHORIZATION_USED" || jobs == 1 {
		t.Errorf("after %d jobs: %+v", jobs, got)
	}
}

func TestWallets_AuthorizationForAnotherConnectionHasItsTime(t *testing.T) {
	t.Parallel()
	// A payment was signed for another connection, which may have sent it: it is refused only once the chain takes it no more, and is done
	// if the wallet of that connection has made it.
	e := newWalletEnv(t)
	r, o := e.holding(100)
	other := env{t: t, account: 5}
	via, err := r.Settlement(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	via.To = other.wallet()
	signed := func(seconds int64) ports.WalletTransfer {
		via.ValidBefore = e.now() + seconds
		id := ident.NewTransaction(e.ids.New, noon)
		return o.transfer(id, 10, o.payload(id, 10, *via))
	}
	made, unused := signed(600), signed(600)
	e.chain.Call("hardhat_impersonateAccount", via.To)
	e.chain.Call("hardhat_setBalance", via.To, "0xde0b6b3a7640000")
	words := o.authorizes(made, via.To, 10)
	e.chain.Call("eth_sendTransaction", map[string]any{"from": via.To, "to": e.usdc.Address, "gas": "0x40000",
		"data": "0x" + hex.EncodeToString(o.signedCall("receiveWithAuthorization("+authorizationTypes+")", ethereum.ReceiveType, words...))})
	for range 2 {
		if got := e.debit(r, unused); got.Verdict != ports.Waiting || got.Accepted {
			t.Errorf("%+v", got)
		}
		e.mine(r, 4)
	}
	if got := e.debit(r, made); got.Verdict != ports.Done {
		t.Errorf("%+v", got)
	}
	e.chain.Call("evm_increaseTime", 700)
	e.mine(r, 4)
	if got := e.debit(r, unused); got.Verdict != ports.Refused {
		t.Errorf("%+v", got)
	}
	if got := e.usdc.Balance(via.To); got != 10 {
		t.Errorf("the other connection has %d", got)
	}
}
