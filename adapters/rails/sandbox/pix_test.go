package sandbox

import (
	"strings"
	"testing"
)

func TestBRCode_MatchesManualExample(t *testing.T) {
	t.Parallel()
	// The example of the central bank's manual comes out to the letter.
	const want = "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000" +
		"5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D"
	if got := brCode("123e4567-e12b-12d1-a456-426655440000", "Fulano de Tal", "BRASILIA", "***"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPixInstructions_CodeContainsReference(t *testing.T) {
	t.Parallel()
	// The code names the reference, which is never longer than a code has room for.
	way := pixInstructions("", accountHolder+" FBO João da Silva", "FUND-4T9K2M7PXQ3A")[0]
	code, _ := way.Info["qrCode"].(string)
	if !strings.Contains(code, "FUND4T9K2M7PXQ3A") || !strings.Contains(code, "5925") {
		t.Errorf("%v", way.Info)
	}
}
