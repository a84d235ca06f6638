package local

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/mr-tron/base58"
	"github.com/tyler-smith/go-bip39"
	"pgregory.net/rapid"
)

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWords_MatchPublishedVectors(t *testing.T) {
	t.Parallel()
	// The vectors of 24 words that BIP-39 refers to (their seeds have a passphrase, which a wallet has not).
	for entropy, want := range map[string]string{
		"0000000000000000000000000000000000000000000000000000000000000000": "abandon abandon abandon abandon abandon abandon abandon abandon " +
			"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon art",
		"7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f": "legal winner thank year wave sausage worth useful legal winner " +
			"thank year wave sausage worth useful legal winner thank year wave sausage worth title",
		"8080808080808080808080808080808080808080808080808080808080808080": "letter advice cage absurd amount doctor acoustic avoid letter " +
			"advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic bless",
		"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff": "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo " +
			"zoo zoo zoo zoo zoo zoo zoo vote",
		"68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c": "hamster diagram private dutch cause delay private meat slide " +
			"toddler razor book happy fancy gospel tennis maple dilemma loan word shrug inflict delay length",
		"9f6a2878b2520799a44ef18bc7df394e7061a224d2c33cd015b157d746869863": "panda eyebrow bullet gorilla call smoke muffin taste mesh " +
			"discover soft ostrich alcohol speed nation flash devote level hobby quick inner drive ghost inside",
		"066dca1a2bb7e8a1db2832148ce9933eea0f3ac9548d793112d9a95c9407efad": "all hour make first leader extend hole alien behind guard gospel " +
			"lava path output census museum junior mass reopen famous sing advance salt reform",
		"f585c11aec520db57dd353c69554b21a89b20fb0650966fa0a9d6f74fd989d8f": "void come effort suffer camp survey warrior heavy shoot primary " +
			"clutch crush open amazing screen patrol group space point ten exist slush involve unfold",
	} {
		if got := string(words(new(secrets), unhex(t, entropy))); got != want {
			t.Errorf("%s has the words %s, want %s", entropy, got, want)
		}
	}
}

func TestWords_AgreeWithAnotherLibrary(t *testing.T) {
	t.Parallel()
	// Words and seed of any entropy are those of a library that many wallets use.
	rapid.Check(t, func(t *rapid.T) {
		entropy := rapid.SliceOfN(rapid.Byte(), entropyLength, entropyLength).Draw(t, "entropy")
		want, err := bip39.NewMnemonic(entropy)
		if err != nil {
			t.Fatal(err)
		}

		got := words(new(secrets), entropy)

		if string(got) != want || len(got) > wordCount*(maxWordLength+1) {
			t.Fatalf("the words are %s, want %s", got, want)
		}
		if sum := seed(new(secrets), got); !bytes.Equal(sum, bip39.NewSeed(want, "")) {
			t.Fatalf("the seed is %x, want %x", sum, bip39.NewSeed(want, ""))
		}
	})
}

func TestDeriveKey_MatchesPublishedVectors(t *testing.T) {
	t.Parallel()
	// The test vectors of BIP-32 with hardened steps only: 3 and 4 are about keys with leading zeros.
	for _, tt := range []struct {
		seed string
		path []uint32
		want string
	}{
		{"000102030405060708090a0b0c0d0e0f", nil,
			"xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"},
		{"000102030405060708090a0b0c0d0e0f", []uint32{hardened},
			"xprv9uHRZZhk6KAJC1avXpDAp4MDc3sQKNxDiPvvkX8Br5ngLNv1TxvUxt4cV1rGL5hj6KCesnDYUhd7oWgT11eZG7XnxHrnYeSvkzY7d2bhkJ7"},
		{"000102030405060708090a0b0c0d0e0f", []uint32{hardened, 1},
			"xprv9wTYmMFdV23N2TdNG573QoEsfRrWKQgWeibmLntzniatZvR9BmLnvSxqu53Kw1UmYPxLgboyZQaXwTCg8MSY3H2EU4pWcQDnRnrVA1xe8fs"},
		{"fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542", nil,
			"xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U"},
		{"4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4acba45d239319ac14f863b8d5ab5a0d0c64d2e8a1e7d1457df2e5a3c51c73235be", nil,
			"xprv9s21ZrQH143K25QhxbucbDDuQ4naNntJRi4KUfWT7xo4EKsHt2QJDu7KXp1A3u7Bi1j8ph3EGsZ9Xvz9dGuVrtHHs7pXeTzjuxBrCmmhgC6"},
		{"4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4acba45d239319ac14f863b8d5ab5a0d0c64d2e8a1e7d1457df2e5a3c51c73235be",
			[]uint32{hardened}, "xprv9uPDJpEQgRQfDcW7BkF7eTya6RPxXeJCqCJGHuCJ4GiRVLzkTXBAJMu2qaMWPrS7AANYqdq6vcBcBUdJCVVFceUvJFjaPdGZ2y9WACViL4L"},
		{"3ddd5602285899a946114506157c7997e5444528f3003f6134712147db19b678", nil,
			"xprv9s21ZrQH143K48vGoLGRPxgo2JNkJ3J3fqkirQC2zVdk5Dgd5w14S7fRDyHH4dWNHUgkvsvNDCkvAwcSHNAQwhwgNMgZhLtQC63zxwhQmRv"},
		{"3ddd5602285899a946114506157c7997e5444528f3003f6134712147db19b678", []uint32{hardened},
			"xprv9vB7xEWwNp9kh1wQRfCCQMnZUEG21LpbR9NPCNN1dwhiZkjjeGRnaALmPXCX7SgjFTiCTT6bXes17boXtjq3xLpcDjzEuGLQBM5ohqkao9G"},
		{"3ddd5602285899a946114506157c7997e5444528f3003f6134712147db19b678", []uint32{hardened, 1 | hardened},
			"xprv9xJocDuwtYCMNAo3Zw76WENQeAS6WGXQ55RCy7tDJ8oALr4FWkuVoHJeHVAcAqiZLE7Je3vZJHxspZdFHfnBEjHqU5hG1Jaj32dVoS6XLT1"},
	} {
		want, err := base58.Decode(tt.want) // version, depth, fingerprint and index: 13 bytes; chain code, 0, key, checksum
		if err != nil || len(want) != 13+32+1+32+4 {
			t.Fatalf("%s: %d bytes, %v", tt.want, len(want), err)
		}

		node, err := deriveKey(new(secrets), unhex(t, tt.seed), tt.path...)

		if err != nil || !bytes.Equal(node[keyLength:], want[13:45]) || !bytes.Equal(node[:keyLength], want[46:78]) {
			t.Errorf("%s %v: derived %x, %v; want the key %x and the chain code %x", tt.seed, tt.path, node, err, want[46:78], want[13:45])
		}
	}
}

func TestBase58check_MatchesKnownTexts(t *testing.T) {
	t.Parallel()
	// Among them two addresses with a leading zero byte, which is a 1.
	for payload, want := range map[string]string{
		"":   "3QJmnh",
		"00": "1Wh4bh",
		"00751e76e8199196d454941c45d1b3a323f1433bd6":                           "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH",
		"000000000000000000000000000000000000000000":                           "1111111111111111111114oLvT2",
		"800000000000000000000000000000000000000000000000000000000000000001":   "5HpHagT65TZzG1PH3CSu63k8DbpvD8s5ip4nEB3kEsreAnchuDf",
		"80000000000000000000000000000000000000000000000000000000000000000101": "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn",
	} {
		if got := base58check(unhex(t, payload)); got != want {
			t.Errorf("%s is %s, want %s", payload, got, want)
		}
	}
}
