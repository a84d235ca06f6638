package eth_test

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"causeway/adapters/rails/evm/eth"
	"causeway/ports"
)

func TestFormatAddress_EIP55(t *testing.T) {
	t.Parallel()
	// The examples of EIP-55 have their checksums; an address in one case has none; a wrong letter is an error.
	for _, text := range []string{
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
		"0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb", "0x52908400098527886E0F7030069857D2E4169EE7", "0xde709f2102306220921060314715629080e2fb77",
	} {
		a, err := eth.ParseAddress(text)
		if err != nil || eth.FormatAddress(a) != text {
			t.Errorf("%s is %s, %v", text, eth.FormatAddress(a), err)
		}
		if _, err := eth.ParseAddress(strings.ToLower(text)); err != nil {
			t.Errorf("%s in small letters: %v", text, err)
		}
	}
	for _, text := range []string{"0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x5aAeb6", "",
		"0xZZAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"} {
		if a, err := eth.ParseAddress(text); err == nil {
			t.Errorf("%q is %s", text, eth.FormatAddress(a))
		}
	}
}

func TestDerive_RefusesHardenedIndexes(t *testing.T) {
	t.Parallel()
	// What needs the private key cannot be derived from a public one.
	if _, err := eth.Derive(ports.ChainAccountKey{}, ports.ChainHardened); err == nil {
		t.Error("derived")
	}
}

func TestDepositPath_DependsOnPlatformAndReference(t *testing.T) {
	t.Parallel()
	// Four indexes of a hash, none of them hardened, that differ for each platform and reference.
	first := eth.DepositPath([16]byte{1}, "FUND-A")
	for _, other := range [][]uint32{eth.DepositPath([16]byte{2}, "FUND-A"), eth.DepositPath([16]byte{1}, "FUND-B")} {
		if len(first) != 5 || first[0] != 1 || other[1] == first[1] || other[4] == first[4] {
			t.Errorf("%v and %v", first, other)
		}
	}
	for _, index := range first {
		if index&ports.ChainHardened != 0 {
			t.Errorf("%v is hardened", first)
		}
	}
}

func TestTransferCall(t *testing.T) {
	t.Parallel()
	// The call of transfer(address,uint256), as every token understands it.
	to, err := eth.ParseAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
	if err != nil {
		t.Fatal(err)
	}
	want := "a9059cbb0000000000000000000000005aaeb6053f3e94c9b9a09f33669435e7ef1beaed00000000000000000000000000000000000000000000000000000000000f4240"
	if got := hex.EncodeToString(eth.TransferCall(to, big.NewInt(1_000_000))); got != want {
		t.Errorf("%s", got)
	}
	if got := eth.FormatHash(eth.TransferTopic); got != "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef" {
		t.Errorf("topic %s", got)
	}
	if got := hex.EncodeToString(eth.BalanceOfCall(to)[:4]) + hex.EncodeToString(eth.DecimalsCall()); got != "70a08231313ce567" {
		t.Errorf("selectors %s", got)
	}
}

func FuzzDecodeTransfer(f *testing.F) {
	topic := eth.TransferTopic
	f.Add(append(append(append([]byte(nil), topic[:]...), make([]byte, 64)...), 1), make([]byte, 32))
	f.Fuzz(func(t *testing.T, topicBytes, data []byte) {
		// Whatever an event contains, a transfer is returned with exactly what it says, or none.
		var topics []eth.Hash
		for ; len(topicBytes) >= 32; topicBytes = topicBytes[32:] {
			topics = append(topics, eth.Hash(topicBytes[:32]))
		}
		got, ok := eth.DecodeTransfer(topics, data)
		if !ok {
			return
		}
		word := got.Amount.FillBytes(make([]byte, 32))
		if len(topics) != 3 || topics[0] != eth.TransferTopic || string(word) != string(data) ||
			string(topics[1][12:]) != string(got.From[:]) || string(topics[2][12:]) != string(got.To[:]) || topics[1][0] != 0 || topics[2][11] != 0 {
			t.Errorf("%+v of %x, %x", got, topics, data)
		}
	})
}
