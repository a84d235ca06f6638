// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TestToken} from "TestToken.sol";

/// A token that takes permits (EIP-2612) and tells no version of its domain, as those of OpenZeppelin.
contract TestPermitToken is TestToken {
    mapping(address => uint256) public nonces;

    constructor() TestToken("PUSD", 6) {}

    function name() public pure virtual override returns (string memory) {
        return "Permit Dollar";
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return
            keccak256(
                abi.encode(
                    keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                    keccak256(bytes(name())),
                    keccak256("1"),
                    block.chainid,
                    address(this)
                )
            );
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external virtual {
        require(block.timestamp <= deadline, "permit is expired");
        bytes32 message = keccak256(
            abi.encode(
                keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"),
                owner,
                spender,
                value,
                nonces[owner]++,
                deadline
            )
        );
        require(ecrecover(keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), message)), v, r, s) == owner, "invalid signature");
        _approve(owner, spender, value);
    }
}
