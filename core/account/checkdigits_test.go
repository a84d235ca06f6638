package account

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"
	"pgregory.net/rapid"
)

func TestCheckDigits(t *testing.T) {
	// Published examples pass, and each with one error is refused.
	t.Parallel()
	tests := []struct {
		name  string
		check check
		good  []string
		bad   []string
	}{
		{"IBAN", checkIBAN,
			[]string{"DE89370400440532013000", "DE02370400440532013014", "GB29NWBK60161331926819", "FR1420041010050500013M02606", "NO9386011117947",
				"MT84MALT011000012345MTLCAST001S",
				"BR1800360305000010009795493C1", "SE4550000000058398257466", "CH9300762011623852957", "AE070331234567890123456", "NL91ABNA0417164300",
				"XK051212012345678906"},
			[]string{"", "DE", "DE89", "DE8937040044053201300", "DE893704004405320130000", "ZZ89370400440532013000", "DE00370400440532013000",
				"DE99370400440532013014", "DE89370400440532013é0", "de89370400440532013000"}},
		{"CLABE", checkCLABE,
			[]string{"032180000118359719", "002010077777777771", "014027000005555558"},
			[]string{"", "03218000011835971", "0321800001183597199", "03218000011835971a", "032180000118359710"}},
		{"ABA", checkABA,
			[]string{"021000021", "011401533", "091000019", "121000248", "322271627"},
			[]string{"", "02100002", "0210000210", "02100002a", "000000000", "130000006", "990000003"}},
		{"CPF", checkCPF,
			[]string{"52998224725", "11144477735", "12345678909"},
			[]string{"", "5299822472", "529982247255", "5299822472a", "11111111111", "00000000000"}},
		{"CNPJ", checkCNPJ,
			[]string{"11222333000181", "00000000000191", "33000167000101"},
			[]string{"", "1122233300018", "112223330001811", "1122233300018a", "00000000000000", "11222333000180"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, value := range tt.good {
				if problem := tt.check(value); problem != "" {
					t.Errorf("%q: %s", value, problem)
				}
			}
			for _, value := range tt.bad {
				if tt.check(value) == "" {
					t.Errorf("%q passed", value)
				}
			}
		})
	}
}

// drawDigits draws n decimal digits.
func drawDigits(t *rapid.T, name string, n int) string {
	return rapid.StringOfN(rapid.RuneFrom([]rune("0123456789")), n, n, -1).Draw(t, name)
}

// changeDigit changes the digit at i to another one.
func changeDigit(t *rapid.T, text string, i int) string {
	by := byte(rapid.IntRange(1, 9).Draw(t, "by"))
	return text[:i] + string('0'+(text[i]-'0'+by)%10) + text[i+1:]
}

func TestCheckCLABE_RejectsAnyChangedDigit(t *testing.T) {
	// Exactly one of the ten possible last digits is valid, and any other changed digit is detected.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clabe := withCheckDigits(t, drawDigits(t, "first 17", 17), 1, checkCLABE)
		if wrong := changeDigit(t, clabe, rapid.IntRange(0, 17).Draw(t, "at")); checkCLABE(wrong) == "" {
			t.Fatalf("%s and %s are both valid", clabe, wrong)
		}
	})
}

func TestCheckABA_RejectsAnyChangedDigit(t *testing.T) {
	// Any changed digit is detected, whatever district the changed number has.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		district := rapid.SampledFrom([]string{"01", "02", "11", "12", "21", "32", "61", "72", "80"}).Draw(t, "district")
		routing := withCheckDigits(t, district+drawDigits(t, "next 6", 6), 1, checkABA)
		if wrong := changeDigit(t, routing, rapid.IntRange(0, 8).Draw(t, "at")); checkABA(wrong) == "" {
			t.Fatalf("%s and %s are both valid", routing, wrong)
		}
	})
}

func TestCheckIBAN_RejectsAnyChangedDigit(t *testing.T) {
	// Check digits modulo 97 detect every single wrong digit.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		account := drawDigits(t, "account", 18)
		iban := fmt.Sprintf("DE%02d%s", 98-remainder(account+"DE00"), account)
		if problem := checkIBAN(iban); problem != "" {
			t.Fatalf("%s: %s", iban, problem)
		}
		if wrong := changeDigit(t, iban, rapid.IntRange(2, 21).Draw(t, "at")); checkIBAN(wrong) == "" {
			t.Fatalf("%s and %s are both valid", iban, wrong)
		}
	})
}

func TestCheckIBAN_RejectsCongruentCheckDigits(t *testing.T) {
	// 02 and 99, 01 and 98, 00 and 97 are the same modulo 97; only 02 to 98 are assigned.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		account := drawDigits(t, "account", 18)
		right := 98 - remainder(account+"DE00")
		for digits := range int64(100) {
			iban := fmt.Sprintf("DE%02d%s", digits, account)
			if passed := checkIBAN(iban) == ""; passed != (digits == right) {
				t.Fatalf("%s passed: %v", iban, passed)
			}
		}
	})
}

func TestCheckBrazilianTaxID_RejectsAnyWrongCheckDigit(t *testing.T) {
	// Exactly one pair of check digits is valid for a number. (A wrong digit before them may
	// not be detected, because remainders 0 and 1 have the same check digit.)
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]struct {
			length int
			check  check
		}{{11, checkCPF}, {14, checkCNPJ}}).Draw(t, "kind")
		base := drawDigits(t, "base", kind.length-2)
		if sameDigits(base) {
			t.Skip("never given out")
		}
		right := withCheckDigits(t, base, 2, kind.check)
		if wrong := changeDigit(t, right, rapid.IntRange(kind.length-2, kind.length-1).Draw(t, "at")); kind.check(wrong) == "" {
			t.Fatalf("%s and %s are both valid", right, wrong)
		}
	})
}

// withCheckDigits returns the text with the only n valid check digits.
func withCheckDigits(t *rapid.T, base string, n int, check check) string {
	var found []string
	most := map[int]int{1: 10, 2: 100}[n]
	for digits := range most {
		if text := fmt.Sprintf("%s%0*d", base, n, digits); check(text) == "" {
			found = append(found, text)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s can be completed to %v", base, found)
	}
	return found[0]
}

// remainder returns the text as a number modulo 97, computed with big.Int.
func remainder(text string) int64 {
	var digits strings.Builder
	for _, c := range strings.ToUpper(text) {
		if c >= 'A' {
			fmt.Fprintf(&digits, "%d", c-'A'+10)
		} else {
			digits.WriteRune(c)
		}
	}
	number, ok := new(big.Int).SetString(digits.String(), 10)
	if !ok {
		return -1
	}
	return number.Mod(number, big.NewInt(97)).Int64()
}

func FuzzCheckIBAN(f *testing.F) {
	for _, seed := range []string{"DE89370400440532013000", "DE02370400440532013014", "GB29NWBK60161331926819", "", "DE", "XK05",
		"DE8937040044053201300\x00", "ÄÖ89"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, iban string) {
		// Every accepted IBAN has the length of its country and is 1 modulo 97 when read as a number.
		if checkIBAN(iban) == "" && (len(iban) != ibanLengths[iban[:2]] || remainder(iban[4:]+iban[:4]) != 1) {
			t.Errorf("%q passed", iban)
		}
	})
}

func FuzzCheckCLABE(f *testing.F) {
	for _, seed := range []string{"032180000118359719", "", "000000000000000000", "03218000011835971é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, clabe string) {
		// Every accepted CLABE is 18 digits whose weighted sum with the check digit ends in 0.
		if checkCLABE(clabe) != "" {
			return
		}
		number, sum := []byte(clabe), 0
		if len(number) != 18 || !allDigits(clabe) {
			t.Fatalf("%q passed", clabe)
		}
		for i, digit := range number {
			sum += int(digit-'0') * []int{3, 7, 1}[i%3] // the check digit has the weight 1
		}
		if sum%10 != 0 {
			t.Errorf("%q passed", clabe)
		}
	})
}

func FuzzCheckABA(f *testing.F) {
	for _, seed := range []string{"021000021", "", "000000000", "80", "02100002١"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, routing string) {
		// Every accepted number is nine digits that satisfy the checksum as the Federal Reserve writes it.
		if checkABA(routing) != "" {
			return
		}
		if len(routing) != 9 || !allDigits(routing) {
			t.Fatalf("%q passed", routing)
		}
		d := func(i int) int { return int(routing[i-1] - '0') }
		if (3*(d(1)+d(4)+d(7))+7*(d(2)+d(5)+d(8))+d(3)+d(6)+d(9))%10 != 0 {
			t.Errorf("%q passed", routing)
		}
	})
}

func FuzzCheckBrazilianTaxID(f *testing.F) {
	for _, seed := range []string{"52998224725", "11222333000181", "", "1111111111", "5299822472\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		// Every accepted id is 11 or 14 digits that are not all equal, with the only valid ending.
		if checkBrazilianTaxID(id) != "" {
			return
		}
		if (len(id) != 11 && len(id) != 14) || !allDigits(id) || sameDigits(id) {
			t.Fatalf("%q passed", id)
		}
		other := id[:len(id)-1] + string('0'+(id[len(id)-1]-'0'+1)%10)
		if checkBrazilianTaxID(other) == "" {
			t.Errorf("%q and %q passed", id, other)
		}
	})
}

func TestCheckTronAddress(t *testing.T) {
	// Real addresses pass; those with another form, network or checksum do not.
	t.Parallel()
	for _, good := range []string{"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL",
		"TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8"} {
		if problem := checkTronAddress(good); problem != "" {
			t.Errorf("%s: %s", good, problem)
		}
	}
	for _, bad := range []string{"", "T", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u",
		"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj60", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", strings.Repeat("T", 34)} {
		if checkTronAddress(bad) == "" {
			t.Errorf("%s passed", bad)
		}
	}
}

func TestCheckTronAddress_RejectsAnyChangedLetter(t *testing.T) {
	// A payment to a mistyped address is lost, so one wrong letter must be detected.
	t.Parallel()
	const good, letters = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	rapid.Check(t, func(t *rapid.T) {
		at, letter := rapid.IntRange(0, len(good)-1).Draw(t, "at"), rapid.SampledFrom([]byte(letters)).Draw(t, "letter")
		if wrong := good[:at] + string(letter) + good[at+1:]; wrong != good && checkTronAddress(wrong) == "" {
			t.Fatalf("%s and %s are both valid", good, wrong)
		}
	})
}

func FuzzCheckTronAddress(f *testing.F) {
	for _, seed := range []string{"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "", "T", "T\x00", strings.Repeat("z", 1000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		// Every accepted address has 34 letters and is 25 bytes of the network.
		if checkTronAddress(address) != "" {
			return
		}
		if bytes := base58.Decode(address); len(address) != 34 || len(bytes) != 25 || bytes[0] != 0x41 {
			t.Errorf("%q passed", address)
		}
	})
}
