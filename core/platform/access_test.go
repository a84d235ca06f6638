package platform_test

import (
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/platform"
)

func TestPrincipal_PermissionsAreIndependent(t *testing.T) {
	t.Parallel()
	// A principal with one permission has that one, and lacks both others.
	for _, has := range platform.Permissions {
		for _, need := range platform.Permissions {
			err := platform.Principal{Permissions: []platform.Permission{has}}.CheckPermission(need)

			if has == need && err != nil {
				t.Errorf("with %s, Must(%s) = %v", has, need, err)
			}
			if has != need && (!fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), string(need))) {
				t.Errorf("with %s, Must(%s) = %v; want FORBIDDEN that names it", has, need, err)
			}
		}
	}

	// The zero principal has no permission.
	if err := (platform.Principal{}).CheckPermission(platform.View); !fault.Is(err, fault.Forbidden) {
		t.Errorf("the zero principal: %v", err)
	}
}

func TestPrincipal_CheckSandboxRejectsProduction(t *testing.T) {
	t.Parallel()
	// Only a sandbox platform passes; a production platform and the zero one are refused.
	if err := (platform.Principal{Environment: platform.Sandbox}).CheckSandbox(); err != nil {
		t.Errorf("sandbox: %v", err)
	}
	for _, environment := range []platform.Environment{platform.Production, ""} {
		err := platform.Principal{Environment: environment}.CheckSandbox()

		if f, ok := fault.As(err); !ok || f.Code != fault.Forbidden || f.Reason != "Sandbox only" {
			t.Errorf("%q: %v", environment, err)
		}
	}
}
