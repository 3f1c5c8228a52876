"""Eigenvectors and singular vectors, right up to what is not determined."""

import numpy as np
import pytest

from workbench_checks import eigen, same_up_to_phase, svd


@pytest.fixture(params=[np.float32, np.float64, np.complex64, np.complex128])
def matrix(request):
    random = np.random.default_rng(3)
    a = random.standard_normal((2, 12, 12)) + 1j * random.standard_normal((2, 12, 12))
    a = a if np.dtype(request.param).kind == "c" else a.real
    return (a + np.conj(np.swapaxes(a, -1, -2))).astype(request.param)


def turned(vectors):
    """Each column by a sign or phase of its own."""
    angles = np.random.default_rng(4).uniform(0, 6, vectors.shape[-1])
    phases = np.exp(1j * angles) if vectors.dtype.kind == "c" else np.sign(np.cos(angles))
    return (vectors * phases).astype(vectors.dtype)


def test_signs_and_phases_are_free(matrix):
    vectors = np.linalg.eigh(matrix).eigenvectors
    assert same_up_to_phase(turned(vectors), vectors, atol=1e-5)
    assert not same_up_to_phase(turned(vectors) * np.float32(1.01), vectors, atol=1e-5)
    assert not same_up_to_phase(np.flip(vectors, -1), vectors, atol=1e-5)


def test_eigenvectors_are_judged_by_their_equation(matrix):
    values, vectors = np.linalg.eigh(matrix)
    assert eigen(matrix, values, turned(vectors))
    assert not eigen(matrix, values * np.float32(1.001), vectors)
    assert not eigen(matrix, values, vectors * np.float32(1.001))
    assert eigen(matrix, np.flip(values, -1), np.flip(vectors, -1)).message == "eigenvalue [0, 1] is out of order"


def test_repeated_eigenvalues_leave_a_rotation_free():
    values, vectors = np.array([1.0, 1.0, 2.0]), np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3))).Q
    matrix = vectors * values @ vectors.T
    turn = np.array([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]])
    assert eigen(matrix, values, vectors @ turn)
    assert not same_up_to_phase(vectors @ turn, vectors)


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (3, 6, 2)])
@pytest.mark.parametrize("full", [True, False])
def test_singular_vectors(shape, full):
    matrix = np.random.default_rng(6).standard_normal(shape).astype(np.float32)
    u, s, vh = np.linalg.svd(matrix, full_matrices=full)
    assert svd(matrix, u, s, vh)
    flipped_u, flipped_vh = u.copy(), vh.copy()
    flipped_u[..., 0] *= -1
    assert not svd(matrix, flipped_u, s, vh)
    flipped_vh[..., 0, :] *= -1
    assert svd(matrix, flipped_u, s, flipped_vh)
    assert not svd(matrix, u, s * np.float32(1.001), vh)
    assert not svd(matrix, u, -s, vh)


def test_names_the_first_component_that_is_off():
    vectors = np.eye(3)
    wrong = np.array([[1.0, 0, 0], [0, -1, 0], [0.5, 0, 1]])
    assert same_up_to_phase(wrong, vectors).message.startswith(
        "up to its vector's sign or phase, component [2, 0] is 0.5"
    )
