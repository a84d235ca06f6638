package local

import (
	"testing"

	"causeway/core/ethereum"
)

func TestAddressPath_IsThatOfOtherWallets(t *testing.T) {
	t.Parallel()
	// The first account that other wallets show for known words, and the public key of it.
	s := new(secrets)
	text := words(s, make([]byte, entropyLength)) // abandon … art
	key, err := privateKey(s, text, addressPath)
	if err != nil {
		t.Fatal(err)
	}
	address, err := ethereum.AddressOf([33]byte(key.PubKey().SerializeCompressed()))
	if err != nil || ethereum.FormatAddress(address) != "0xF278cF59F82eDcf871d630F28EcC8056f25C1cdb" {
		t.Errorf("the address is %s, %v", ethereum.FormatAddress(address), err)
	}
}
